"""The ``namespace`` block: a namespace of a catalog and its properties.

Never touches tables. Tables create a missing namespace themselves; this block is for who wants to manage its
properties or its end.
"""
