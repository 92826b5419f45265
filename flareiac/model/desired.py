"""The desired resources that the HCL declares, evaluated."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from flareiac.kernel.addresses import Address
from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.diagnostics import Diagnostic
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.paths import Path
from flareiac.kernel.records import SPARSE, UNSTORED
from flareiac.kernel.sources import Span
from flareiac.model.conditions import ConditionResult
from flareiac.model.relocation import BoundPlace
from flareiac.sdk.lakehouse import TableHistory
from flareiac.sdk.owner import Owner
from flareiac.sdk.references import Resolved
from flareiac.sdk.resource_type import Kind
from flareiac.sdk.results import Members


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplaceTrigger:
    """One entry of ``replace_triggered_by``: resources, and one of their attributes (empty: any change)."""

    addresses: tuple[str, ...]
    path: Path = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifecycle:
    """The ``lifecycle`` block of a resource."""

    prevent_destroy: bool = False
    ignore_changes: tuple[Path, ...] = ()
    ignores_all: bool = False
    """True for ``ignore_changes = all``: ``ignore_changes`` names everything that can be written."""
    triggers: tuple[ReplaceTrigger, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DesiredResource:
    """One instance. ``attributes`` are canonical; ``dependencies`` are the addresses it refers to or names in
    ``depends_on``.
    """

    address: Address
    provider: str
    kind: Kind
    attributes: Attributes
    dependencies: tuple[str, ...] = ()
    lifecycle: Lifecycle = field(default_factory=Lifecycle)
    owner: Owner | None = None
    """That of its block, or else that of the project."""
    span: Span | None = None
    spans: Mapping[Path, Span] = field(default_factory=dict)
    identity: Attributes = field(default_factory=dict)
    history: TableHistory | None = None
    """The history of the table that a data block reads (see ``sdk.results.Present``)."""
    members: Mapping[str, Members] = field(default_factory=dict)
    """As in ``sdk.results.Present``."""

    def resolved(self) -> Resolved:
        """The resource as those that refer to it see it."""
        address, kind = str(self.address), self.address.type
        return Resolved(
            address=address,
            type=kind,
            attributes=self.attributes,
            identity=self.identity,
            history=self.history,
            ignored=frozenset(str(path[0]) for path in self.lifecycle.ignore_changes),
            implied=self.kind is Kind.CONNECTION and self.span is None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputValue:
    """One output. The value of a sensitive one is None: it is never stored.

    ``type``: cty's JSON form of its type, which plain data do not tell (a set and a list are both lists);
    None where it is not recorded. Not ``Data``: it refers to nothing, and is twice as deep as the value.
    """

    value: Data
    sensitive: bool = False
    description: str | None = field(default=None, metadata=UNSTORED)
    type: Any = field(default=None, compare=False, metadata=SPARSE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """An ``import`` block: the object ``id`` becomes the instance ``to``. ``takeover``: also where another
    state manages it.
    """

    to: str
    id: str
    takeover: bool = False
    span: Span | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    """A ``removed`` block: the instances of a block are no longer managed; ``destroy`` asks for the objects
    too.
    """

    source: str
    destroy: bool = False
    span: Span | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Desired:
    """A whole configuration, in dependency order."""

    resources: Mapping[str, DesiredResource]
    outputs: Mapping[str, OutputValue] = field(default_factory=dict)
    imports: tuple[Import, ...] = ()
    removed: tuple[Removed, ...] = ()
    moves: Mapping[str, str] = field(default_factory=dict)
    """The new addresses of what the state knows under another one, by the old ones."""
    variables: Attributes = field(default_factory=dict)
    """Their values as they may be shown: None in place of what is sensitive."""
    values: Attributes = field(default_factory=dict, repr=False)
    """The same with what is sensitive, never to be written anywhere."""
    unread: Mapping[str, Diagnostic] = field(default_factory=dict)
    """The reason why the object of a data block is not known: an error for what depends on it."""
    bound: tuple[BoundPlace, ...] = ()
    """The places it names that are other ones once the root module is elsewhere."""
    digest: str = ""
    conditions: tuple[ConditionResult, ...] = ()
    """The answers of all conditions. Those that do not hold are no complaints of the configuration yet: a
    plan reports those of what it is about.
    """
    disabled: frozenset[str] = frozenset()
    """The addresses of the blocks that have no instance by ``enabled = false``."""
