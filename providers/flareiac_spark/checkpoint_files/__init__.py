"""Spark's checkpoint layout on disk, read without a JVM: offsets, logs, state, generations. Writes
nothing.
"""
