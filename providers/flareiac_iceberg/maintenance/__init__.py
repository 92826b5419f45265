"""Maintenance of tables: what may be declared, the figures that decide, what is due, what carries the work
out and what a result is worth.

``kinds`` has a package for each kind, ``registry`` lists them in the order of work; what all share stands
here. The command line only decides: performers run inside the session of another provider (``performing``).
Measuring reads metadata, manifest lists and manifests, never data files; planning is pure: figures, holds and
the time are arguments.
"""
