"""Rewrites small and worn data files into files of the target size."""
