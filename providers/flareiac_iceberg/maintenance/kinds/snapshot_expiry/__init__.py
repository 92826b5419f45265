"""Expires old snapshots, and keeps those that readers and writers still need."""
