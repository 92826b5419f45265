"""Deletes files below the location of the table that no snapshot names."""
