"""Deletes rows that are older than the table keeps them."""
