"""What an engine block means, as a record: the canonical attributes of an engine and nothing else. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from flareiac.kernel.data import Attributes
from flareiac.sdk.definitions import Number, Text, definition_of


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverSize:
    """The driver process: ``memory`` as Spark reads it (``2g``), ``cores`` in whole cores."""

    memory: Text
    cores: Number


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineDefinition:
    """``conf`` are Spark settings by name, ``packages`` Maven coordinates, sorted. ``runtime_location`` is
    the folder where the application and the command line meet, relative to the root where it lies below it.
    ``idle_shutdown_ms`` and ``graceful_stop_ms`` are milliseconds.
    """

    type: Text
    master: Text
    conf: Mapping[str, Text]
    packages: tuple[Text, ...]
    driver: DriverSize
    log_level: Text
    runtime_location: Text
    idle_shutdown_ms: Number
    graceful_stop_ms: Number

    @classmethod
    def of(cls, attributes: Attributes) -> Self:
        """The definition that attributes say. Raises ``Mismatch`` for attributes of another shape."""
        return definition_of(cls, attributes)
