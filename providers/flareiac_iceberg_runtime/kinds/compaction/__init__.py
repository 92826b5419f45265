"""Rewrites small data files into larger ones."""
