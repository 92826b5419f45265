"""The meaning of the step blocks of a job, as records. Pure."""

from dataclasses import field
from typing import Final

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.types import ANY, BOOL, NUMBER, STRING, ListType, ObjectType
from flareiac.sdk.declared import declared, object_of
from flareiac.sdk.definitions import Flag, Plain, Text
from flareiac.sdk.on_change import ChangeClass, OnChange
from flareiac.sdk.schema import Attribute
from flareiac_spark.stream.stream_definition import Watermark

_STATEFUL: Final = ObjectType({"state_version": NUMBER, "ttl": STRING}, frozenset({"state_version", "ttl"}))
_WATERMARK: Final = ObjectType({"column": STRING, "delay": STRING})


@dataclass(frozen=True, slots=True, kw_only=True)
class Dedup:
    """One row for each value of the keys. ``within_watermark``: keys that the watermark has passed are
    forgotten.
    """

    keys: tuple[Text, ...] = field(
        metadata=declared(
            Attribute(type=ListType(STRING), description="The columns of the key.", required=True)
        )
    )
    within_watermark: Flag = field(
        metadata=declared(
            Attribute(type=BOOL, description="Forgets keys that the watermark has passed.", default=True)
        )
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Stateful:
    """A Python function keeps state; the version is raised with its shape. ``ttl`` is always None."""

    state_version: int
    ttl: None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """In SQL, or in Python (``module:function``): then ``sql`` is empty, which reads as a query of which
    nothing can be determined.
    """

    sql: str = field(
        metadata=declared(
            Attribute(
                type=STRING,
                description="Spark SQL.",
                on_change=OnChange(
                    ChangeClass.RESTART,
                    over_state=ChangeClass.RESULTS_CHANGE,
                    note="over state another grouping key or one more aggregate needs a new generation",
                ),
            )
        )
    )
    python: Text | None = field(
        metadata=declared(
            Attribute(
                type=STRING,
                description="module:function below code. It is called with (spark, inputs, params) at each "
                "start and returns a "
                "DataFrame. When apply has Spark analyze the job, it is called with empty inputs.",
                on_change=OnChange(ChangeClass.RESTART, over_state=ChangeClass.RESULTS_CHANGE),
            )
        )
    )
    params: Plain = field(
        metadata=declared(
            Attribute(
                type=ANY,
                description="Values of any type by name, passed to the function as params.",
                on_change=OnChange(ChangeClass.RESTART, over_state=ChangeClass.RESULTS_CHANGE),
            )
        )
    )
    stateful: Stateful | None = field(
        metadata=declared(
            Attribute(
                type=_STATEFUL,
                description="Declares that the function keeps state: { state_version = 1 }. Raise "
                "state_version when the schema "
                "of the state changes.",
                on_change=OnChange(ChangeClass.NEW_GENERATION),
            )
        )
    )
    dedup: Dedup | None = field(
        metadata=declared(
            Attribute(
                type=object_of(Dedup),
                description='Keeps one row per key: { keys = ["id"], within_watermark = true }.',
                on_change=OnChange(ChangeClass.NEW_GENERATION),
            )
        )
    )
    watermark: Watermark | None = field(
        metadata=declared(
            Attribute(
                type=_WATERMARK,
                description='How late rows of the result may arrive: { column = "ts", delay = "10m" }.',
                on_change=OnChange(ChangeClass.RESTART, over_state=ChangeClass.RESULTS_CHANGE),
            )
        )
    )
