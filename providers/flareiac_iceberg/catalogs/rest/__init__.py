"""Catalogs behind Iceberg's REST protocol."""
