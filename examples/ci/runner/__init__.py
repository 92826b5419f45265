"""Runs the jobs of the project's CI files on this machine, so that what people copy is what was run."""
