"""Kinds of sources that a stream reads: one package for each, with the same files in it.

``schema`` defines what users may write, ``definition`` its meaning, the answers that other rooms ask for and
what a change of it does to a running query, ``offsets`` what it leaves in a checkpoint. ``resolved`` of the
same kind in ``flareiac_spark_runtime.sources`` is what the driver is given and how it opens it. A new kind is
a package in both places, its name in ``KINDS`` there, and both packages in the contracts of imports.
"""
