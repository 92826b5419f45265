"""Expires snapshots and removes the files that only they need."""
