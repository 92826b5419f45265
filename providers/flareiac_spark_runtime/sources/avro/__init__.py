"""Avro schemas: the columns that they declare, how they match declared ones, and how Spark reads values."""
