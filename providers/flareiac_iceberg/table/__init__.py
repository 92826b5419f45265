"""The ``table`` block: an Iceberg table's schema, layout and properties.

Planning is pure and never imports an Iceberg library; it hands typed changes and the ids that they rely on to
apply, which makes one commit of them. Never touches the rows of a table.
"""
