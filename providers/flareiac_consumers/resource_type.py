"""The type ``consumer``: its schema, its canonical attributes, and what it reads. Pure."""

from dataclasses import replace
from typing import Final

from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Diagnostics, did_you_mean
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import encode
from flareiac.kernel.types import STRING, ListType, RefType
from flareiac.sdk.changes import Relation, Usage
from flareiac.sdk.definitions import Ref, definition_of
from flareiac.sdk.lakehouse_views import TableView
from flareiac.sdk.project import Project
from flareiac.sdk.references import References
from flareiac.sdk.resource_type import Decoded, Kind, ResourceType
from flareiac.sdk.schema import Attribute, Block
from flareiac.sdk.type_roles import Declaring, Relations
from flareiac.sdk.validators import not_empty
from flareiac_consumers import codes

_TABLES: Final = ("table", "data.table")
SCHEMA: Final = Block(
    description="A reader outside of this project, such as a dashboard or the service of another team. "
    "Nothing is held for it: a plan names it beside each change that it will notice.",
    attributes={
        "reads": Attribute(
            type=ListType(RefType((*_TABLES, "topic"))),
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
    written = ConsumerDefinition.of(decoded.attributes)
    if not written.reads:
        why = "It reads nothing. Name what it reads: reads = [table.orders]."
        diagnostics.error(codes.NOTHING_READ, why, attribute=("reads",))
    columns = None if written.columns is None else tuple(dict.fromkeys(written.columns))
    consumer = replace(written, reads=tuple(dict.fromkeys(written.reads)), columns=columns)
    _check_columns(consumer, references, diagnostics)
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
                f"{did_you_mean(column, known.values())} Ask its owner before the column goes, and remove it "
                "from this list once it is not read."
            )
            diagnostics.warning(codes.COLUMN_NOT_DECLARED, why, attribute=("columns", number))


def usages(address: str, attributes: Attributes, _references: References) -> tuple[Usage, ...]:
    """One for each table and topic that it reads."""
    consumer = ConsumerDefinition.of(attributes)
    columns = None if consumer.columns is None else tuple(column.lower() for column in consumer.columns)
    return tuple(
        Usage(
            subject=each.address,
            holder=address,
            relation=Relation.LOOKS_UP,
            reason="",
            columns=columns,
            known_as=consumer.group or "",
            is_outside=True,
        )
        for each in consumer.reads
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
