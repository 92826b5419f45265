"""Removes files that no metadata of a table refers to."""
