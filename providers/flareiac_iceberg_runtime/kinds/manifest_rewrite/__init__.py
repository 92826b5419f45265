"""Rewrites manifests that have become many or small."""
