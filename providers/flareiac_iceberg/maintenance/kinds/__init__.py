"""The kinds of maintenance: a package for each, with the same file names in all.

``schema`` is the block, ``settings`` its record and what is wrong with it, ``measure`` (or ``look``, beside
the table) the figures that decide, ``plan`` whether work is due, ``perform`` what Spark carries out, and
``kind`` puts the parts together. Kinds know nothing of each other, and no other module names one.

A new kind is a package here, a line in ``registry`` and the entry point of its performer
(``pyproject.toml``).
"""
