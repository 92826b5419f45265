"""Merges delete files into the data files that they belong to."""
