"""Maintenance of tables: what may be declared, the figures that decide, what is due, and what a result is
worth.

Decides and never does: another provider carries the work out. Measuring reads metadata, manifest lists and
manifests, never data files. Everything else here is pure: figures, holds and the time are arguments. Hands on
``BLOCKS`` and ``ENGINE`` (what users write), ``canonical_blocks``, ``measure`` and ``TableMaintainer``.
"""
