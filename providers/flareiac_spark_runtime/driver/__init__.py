"""The application's working process: ``python -m flareiac_spark_runtime.driver CONTROL_DIR``.

Reads what should run from the control directory, compares with what runs, and acts, again and again. Imports
the standard library, pyspark, ``flareiac_spark_runtime.control`` and a small part of ``flareiac.sdk`` and
``flareiac.kernel`` alone, because it also runs where the command line is not installed. Never plans, never
writes what should run, and never dies of a job. Hands on its status, results and logs through the control
directory.
"""
