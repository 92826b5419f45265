"""Kinds of sources that a stream reads: one package for each, with the same files in it.

``schema`` says what users may write, ``definition`` what it means, what the other rooms ask of it and what a
change of it does to a running query, ``offsets`` what it leaves in a checkpoint, ``resolved`` what the driver
is given and how it opens it. A new kind is a package beside these, and its name below; nothing else names a
kind. ``resolved`` travels to clusters and sees what the driver may see.
"""

from typing import Final

KINDS: Final = ("files", "kafka", "rate", "table")
"""The names of the packages, which are those of the blocks in ``stream`` and of the kinds in JSON."""
