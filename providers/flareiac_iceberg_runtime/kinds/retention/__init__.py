"""Deletes rows that are older than their table keeps them."""
