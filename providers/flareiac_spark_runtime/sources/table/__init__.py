"""Rows of an Iceberg table as the driver streams them."""
