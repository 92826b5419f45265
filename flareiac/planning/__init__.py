"""From desired, recorded and observed to a plan.

Everything but ``observe`` is pure: no clock, no I/O. Never writes anything anywhere; hands on a ``Plan`` with its whole graph.
"""
