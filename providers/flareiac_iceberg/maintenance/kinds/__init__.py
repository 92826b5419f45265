"""The kinds of maintenance: a package each, with the same file names in all.

``kind`` puts the parts together, ``schema`` is the block, ``settings`` its record and what is wrong with it,
``measure`` the figures that decide, ``plan`` whether it is due, ``perform`` what Spark carries out. Kinds
know nothing of each other; ``registry`` lists them.
"""
