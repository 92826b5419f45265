"""Catalogs of every kind: the ``catalog`` block, what a catalog answers, and how one is written and opened by
Spark.

Never reads or writes a table. Hands its canonical attributes to namespaces and tables, and the Spark settings
that they imply to the core.
"""
