"""Rows that Spark makes, so many a second."""
