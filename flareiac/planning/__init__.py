"""From desired, recorded and observed to a plan.

Everything but ``observe`` and ``measure`` (with ``fan_out``, by which they ask) is pure: no clock, no I/O.
Never writes anything anywhere; hands on a ``Plan`` with its whole graph.
"""
