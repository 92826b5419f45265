"""Catalogs in a PostgreSQL database."""
