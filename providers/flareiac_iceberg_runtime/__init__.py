"""Maintenance of Iceberg tables as Spark carries it out, inside the application of an engine.

``kinds`` has a performer for each kind of maintenance, which the entry points of ``flareiac.table_tasks``
name. Imports the standard library and the contract of table tasks; the session of Spark comes with each task.
This package travels to clusters whole. ``flareiac_iceberg`` plans the work and verifies what came of it.
"""
