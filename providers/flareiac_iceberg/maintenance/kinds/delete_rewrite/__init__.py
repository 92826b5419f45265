"""Rewrites small position delete files."""
