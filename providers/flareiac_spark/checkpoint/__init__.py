"""Checkpoints: the offsets and state of a job's queries, in generations on disk.

Reads them without a JVM. Never writes inside a generation: that is Spark's alone.
"""
