"""Kinds of sources as the process beside Spark opens them: one package for each.

``resolved`` of a kind is its part of a job's spec: what the driver is given, how it opens the source and
which offsets a first start takes. ``flareiac_spark.sources`` declares and plans the same kinds.
"""

from typing import Final

KINDS: Final = ("files", "kafka", "rate", "table")
"""The names of the packages, which are those of the blocks in ``stream`` and of the kinds in JSON."""
