"""Catalogs in a SQLite file."""
