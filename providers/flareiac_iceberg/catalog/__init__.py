"""The ``catalog`` block: where tables are registered and where their files go.

Never reads or writes a table. Hands its canonical attributes to namespaces and tables, and the Spark settings that they imply to the core.
"""
