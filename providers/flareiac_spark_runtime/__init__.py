"""The process that runs jobs beside Spark, and what it shares with the one that plans them.

``control`` holds the documents through which both processes meet: specs, the desired state, the status and
operations, with the directory that keeps them. ``driver`` is the process beside Spark. ``sources`` holds each
kind of source as it is opened and decoded, ``storage`` the files of checkpoints and control directories.

Imports the standard library, pyspark, py4j and a few modules of ``flareiac``. This package, those modules and
the packages of table tasks are all that travels to a cluster (``flareiac_spark.runtime.driver_archive``).
"""
