"""Merges small manifests."""
