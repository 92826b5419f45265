"""The type ``consumer``: its schema, its canonical attributes, and what it reads. Pure."""

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Final

from flareiac.kernel.addresses import block_type
from flareiac.kernel.data import Attributes, Data, is_known
from flareiac.kernel.diagnostics import Diagnostics, did_you_mean
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import encode
from flareiac.kernel.types import NUMBER, STRING, ListType, RefType
from flareiac.sdk.changes import Relation, Usage
from flareiac.sdk.declared import DURATION, declared, object_of, of_block
from flareiac.sdk.definitions import Ref, definition_of
from flareiac.sdk.lakehouse_views import TableView
from flareiac.sdk.project import Project
from flareiac.sdk.references import References
from flareiac.sdk.resource_type import Decoded, Kind, ResourceType
from flareiac.sdk.schema import Attribute, Block
from flareiac.sdk.service_level import ServiceLevel
from flareiac.sdk.type_roles import Declaring, Relations
from flareiac.sdk.validators import is_duration, not_empty, parse_duration
from flareiac_consumers import codes

_TABLES: Final = ("table", "data.table")
_TOPIC: Final = "topic"
_SLA: Final = "sla"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sla:
    """The attribute ``sla``."""

    max_lag: int | None = field(
        default=None,
        metadata=declared(Attribute(type=NUMBER, description="The most records behind.", unit="records")),
    )
    max_age_ms: int | None = field(
        default=None,
        metadata=declared(Attribute(type=STRING, description="The greatest age of data.", unit=DURATION)),
    )


def _is_sla(value: Data) -> str | None:
    """A bound at least, and each of them one that can be kept: a lag is a number, an age a text."""
    bounds = [bound for bound in (value if isinstance(value, Mapping) else {}).values() if bound is not None]
    if not bounds:
        return 'It bounds nothing. Write max_age = "15m", max_lag = 10000, or both.'
    return next((problem for bound in bounds if (problem := _problem_of(bound))), None)


def _problem_of(bound: Data) -> str | None:
    if isinstance(bound, float) or (isinstance(bound, int) and bound < 0):
        return f"max_lag is {bound}. Write a whole number of records, from 0 on."
    if isinstance(bound, str):
        if (problem := is_duration(bound)) is not None:
            return f"max_age: {problem}"
        if parse_duration(bound) == 0:
            return (
                "max_age is 0, and no data is as young as that. Write the age that its readers can live with."
            )
    return None


SCHEMA: Final = Block(
    description="A reader outside of this project, such as a dashboard or the service of another team. "
    "Nothing is held for it: a plan names it beside each change that it will notice.",
    attributes={
        "reads": Attribute(
            type=ListType(RefType((*_TABLES, _TOPIC))),
            description="The tables and topics that it reads.",
            required=True,
        ),
        "columns": Attribute(
            type=ListType(STRING),
            description="The columns that it reads, of whichever table has them. Left out: it may read all.",
        ),
        "url": Attribute(type=STRING, description="A page about it, for people.", validators=(not_empty,)),
        "group": Attribute(
            type=STRING,
            description="Its consumer group at the brokers of the topics.",
            validators=(not_empty,),
        ),
        "description": Attribute(type=STRING, description="What it is, for people."),
        _SLA: Attribute(
            type=object_of(Sla),
            description="How fresh what it reads has to be. `max_age`: the longest time since data last came "
            "into any table or topic that it reads. `max_lag`: how many records its `group` may be behind in "
            "any topic. `status` compares; a breach is drift.",
            validators=(_is_sla,),
        ),
    },
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerDefinition:
    """A ``consumer`` block. ``columns`` None: it may read all."""

    reads: tuple[Ref, ...]
    columns: tuple[str, ...] | None
    url: str | None
    group: str | None
    description: str | None
    sla: ServiceLevel | None = None

    @classmethod
    def of(cls, attributes: Attributes) -> "ConsumerDefinition":
        """Raises ``Mismatch`` for attributes of another shape."""
        return definition_of(cls, attributes)


def canonical(
    decoded: Decoded, references: References, _project: Project, diagnostics: Diagnostics
) -> Attributes:
    """Returns the written attributes, each read and each column once. Warns about a column that none of its
    tables has: it is no error, so that the plan that drops the column can name who reads it.
    """
    others = dict(decoded.attributes)
    bounds = of_block(Sla, others.pop(_SLA) or {})
    written = replace(ConsumerDefinition.of(others), sla=_level(bounds))
    if not written.reads:
        why = "It reads nothing. Name what it reads: reads = [table.orders]."
        diagnostics.error(codes.NOTHING_READ, why, attribute=("reads",))
    columns = None if written.columns is None else tuple(dict.fromkeys(written.columns))
    consumer = replace(written, reads=tuple(dict.fromkeys(written.reads)), columns=columns)
    _check_columns(consumer, references, diagnostics)
    _check_sla(consumer, bounds, diagnostics)
    attributes: Attributes = encode(consumer)
    return attributes


def _check_columns(consumer: ConsumerDefinition, references: References, diagnostics: Diagnostics) -> None:
    views = [TableView.at(each, references) for each in consumer.reads]
    tables = [view for view in views if view is not None and view.columns]
    if len(tables) < len(views):  # of a topic, and of a table without a managed schema, they are not known
        return
    known = {path.lower(): path for view in tables for path in view.columns}
    for number, column in enumerate(consumer.columns or ()):
        if column.lower() not in known:
            why = (
                f'None of the tables that it reads declares a column "{column}".'
                f"{did_you_mean(column, known.values())} Ask the owner of the consumer before the "
                "column is dropped or renamed, and remove it from the columns of the consumer once it is not "
                "read."
            )
            diagnostics.warning(codes.COLUMN_NOT_DECLARED, why, attribute=("columns", number))


def _is_known(bounds: Sla) -> bool:
    return is_known(encode(bounds))


def _level(bounds: Sla) -> ServiceLevel | None:
    if bounds == Sla() or not _is_known(bounds):
        return None
    lag = None if bounds.max_lag is None else int(bounds.max_lag)
    return ServiceLevel(max_lag=lag, max_age_ms=bounds.max_age_ms)


def _check_sla(consumer: ConsumerDefinition, bounds: Sla, diagnostics: Diagnostics) -> None:
    """Complains about a bound that nothing could measure: it would look kept for ever."""
    kinds = {block_type(each.address) for each in consumer.reads}
    why = ""
    if not _is_known(bounds):
        why = "Its value is not known before the apply. Write it out, or take it from a variable."
    elif bounds.max_lag is not None and consumer.group is None:
        why = "max_lag is the lag of its group, and it names no group. Add group, or leave max_lag out."
    elif bounds.max_lag is not None and _TOPIC not in kinds:
        why = "max_lag is a lag in topics, and it reads none. Bound the age of a table: max_age."
    elif bounds != Sla() and "data.table" in kinds:
        why = (
            "It reads a data.table, whose freshness is not measured here: it belongs to another project. "
            "Declare the bound there, or a consumer of its own for what this project manages."
        )
    if why:
        diagnostics.error(codes.SLA_NOT_MEASURABLE, why, attribute=(_SLA,))


def usages(address: str, attributes: Attributes, _references: References) -> tuple[Usage, ...]:
    """One for each table and topic that it reads."""
    consumer = ConsumerDefinition.of(attributes)
    return tuple(_usage(address, consumer, each.address) for each in consumer.reads)


def _usage(address: str, consumer: ConsumerDefinition, subject: str) -> Usage:
    """Only a topic is read by a group, and only there it has a lag."""
    is_topic, level = block_type(subject) == _TOPIC, consumer.sla
    if level is not None and not is_topic:
        level = None if level.max_age_ms is None else replace(level, max_lag=None)
    return Usage(
        subject=subject,
        holder=address,
        relation=Relation.LOOKS_UP,
        reason="",
        columns=None if consumer.columns is None else tuple(column.lower() for column in consumer.columns),
        known_as=(consumer.group or "") if is_topic else "",
        is_outside=True,
        level=level,
    )


CONSUMER_TYPE: Final = ResourceType(
    name="consumer",
    kind=Kind.DECLARATION,
    schema=SCHEMA,
    description="A reader outside of this project, for whom nothing is held.",
    canonical=canonical,
    declaring=Declaring(follows_from_text=True, is_outside=True),
    relations=Relations(usages=usages),
)
