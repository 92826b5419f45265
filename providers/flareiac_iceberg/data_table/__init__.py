"""``data "table"``: a table that others own, as jobs of this project may read it.

Reads catalogs and metadata, never changes anything and records nothing. Hands on the columns and the uuid.
"""
