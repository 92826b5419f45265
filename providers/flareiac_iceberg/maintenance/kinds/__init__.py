"""The kinds of maintenance: a package for each, with the same file names in all.

``schema`` is the block, ``settings`` its record and what is wrong with it, ``measure`` (or ``look``, beside
the table) the figures that decide, ``plan`` whether work is due, and ``kind`` puts the parts together. What
Spark carries out is ``perform`` of the same kind in ``flareiac_iceberg_runtime.kinds``. Kinds know nothing of
each other, and no other module names one.

A new kind is a package in both places, a line in ``registry`` and the entry point of its performer
(``pyproject.toml``).
"""
