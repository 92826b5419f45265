"""Access to the parts of pyspark that have no type."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def jvm_of(session: "SparkSession") -> Any:
    """The Java side of a session: its packages, by their names."""
    return session._jvm


def jvm() -> Any:
    """The Java side of this process, once Spark runs."""
    from pyspark import SparkContext

    return SparkContext._jvm
