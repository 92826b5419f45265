"""Changes of columns. Paths are those that hold after all renames. Pure."""

from typing import ClassVar, Final

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.changes import Effect, Hit, Impact, Relation, Step
from flareiac.sdk.definitions import Plain
from flareiac_iceberg.table.verdict import (
    LOOKUP_RUNS_ON,
    LOOKUP_STOPS,
    STREAM_RUNS_ON,
    TableChange,
    Verdict,
    losing,
    metadata,
    of_column,
    runs_on,
    stops,
)

ADDED_COLUMNS: Final = "added columns"
"""The tolerance of a writer that goes through Iceberg's own streaming sink."""
_NEW_ROWS: Final = (
    "For new rows that name no value: batch writes and merges fill it in, Spark's streaming append leaves "
    "null. Rows that are there keep what they have."
)
_BY_FIELD: Final = (
    "Iceberg finds columns by field id: rows written before are null in it, and their old values do not "
    "come back. To have them back, make the schema that the table had before that its current one again, "
    "and then apply."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RenameColumn(TableChange):
    """``path`` (as it is when this change's turn comes) gets the last part of ``new`` as its name."""

    text: ClassVar = "rename column {0.path} to {0.new}"
    why: ClassVar = "Iceberg finds columns by field id: old rows keep their values under the new name."

    path: str
    new: str

    def hits(self) -> tuple[Hit, ...]:
        return of_column(self.path)

    def verdict(self) -> Verdict:
        return Verdict(
            writes=stops(
                Relation.WRITES,
                "a running query writes every column under its old name and dies at the second batch "
                f"after {self.path} is renamed",
            ),
            streams_from=runs_on(Relation.STREAMS_FROM, "a running query finds its columns by their ids"),
            looks_up=LOOKUP_STOPS,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DropColumn(TableChange):
    text: ClassVar = "drop column {0.path}"
    why: ClassVar = (
        "Old files keep the bytes, but no query sees them any more, and adding the name again "
        "does not bring them back."
    )
    effect: ClassVar = Effect.LOSES_DATA

    path: str

    def hits(self) -> tuple[Hit, ...]:
        return of_column(self.path)

    def verdict(self) -> Verdict:
        return Verdict(
            writes=stops(
                Relation.WRITES,
                f"a running query would lose what it writes into {self.path} and die at the second batch",
            ),
            streams_from=stops(
                Relation.STREAMS_FROM, f"a running query would silently read null for {self.path}"
            ),
            looks_up=LOOKUP_STOPS,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AddColumn(TableChange):
    """``after`` names the sibling that it follows; an empty text means first, None last."""

    path: str
    type: str
    required: bool
    comment: str | None
    after: str | None
    default: Plain = None
    returns: bool = False
    """It was dropped outside of FlareIaC: rows written before have values under its old field id only."""

    def step(self) -> Step:
        place = "" if self.after is None else f" after {self.after}" if self.after else " at the front"
        if self.returns:
            text = f"add column {self.path} {self.type} again{place}, under another field id"
            return losing(text, f"It was dropped outside of FlareIaC. {_BY_FIELD}", of_column(self.path))
        default = "" if self.default is None else f", {_value(self.default)} by default"
        text = f"add column {self.path} {self.type}{' not null' if self.required else ''}{default}{place}"
        return metadata(text, "" if self.default is None else _NEW_ROWS)

    def verdict(self) -> Verdict:
        if self.required:
            return Verdict(
                writes=_unfilled(self.path) if self.default is None else self._undefaulted(),
                streams_from=STREAM_RUNS_ON,
                looks_up=LOOKUP_RUNS_ON,
            )
        if self.returns:
            return _rebound(self.path, "would go on writing null", "would go on reading null")
        return Verdict(
            writes=runs_on(
                Relation.WRITES,
                f"a running query keeps running and leaves {self.path} null until it restarts",
            ),
            writes_unless=stops(
                Relation.WRITES,
                f"a micro-batch that is written as a batch must give every column, {self.path} too",
                ADDED_COLUMNS,
            ),
            streams_from=STREAM_RUNS_ON,
            looks_up=LOOKUP_RUNS_ON,
        )

    def _undefaulted(self) -> Impact:
        return stops(
            Relation.WRITES,
            f"a running query gives no {self.path}; Iceberg's writer dies for want of a required "
            "column, also with a default",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class WidenType(TableChange):
    text: ClassVar = "widen column {0.path} from {0.old} to {0.new}"
    why: ClassVar = "Types only get wider; no file is rewritten."
    effect: ClassVar = Effect.IRREVERSIBLE

    path: str
    old: str
    new: str

    def hits(self) -> tuple[Hit, ...]:
        return of_column(self.path)

    def verdict(self) -> Verdict:
        return Verdict(
            writes=runs_on(
                Relation.WRITES, f"a running query goes on writing {self.path} as {self.old}, which fits"
            ),
            streams_from=stops(
                Relation.STREAMS_FROM,
                f"a running query reads {self.path} as {self.old} and dies at the first wider value",
            ),
            looks_up=LOOKUP_STOPS,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SetColumnComment(TableChange):
    text: ClassVar = "set the comment of column {0.path}"

    path: str
    old: str
    new: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SetDefault(TableChange):
    """``new`` is for rows that are written from now on."""

    path: str
    old: Plain
    new: Plain

    def step(self) -> Step:
        return metadata(f"set the default of column {self.path} to {_value(self.new)}", _NEW_ROWS)


@dataclass(frozen=True, slots=True, kw_only=True)
class SetNullability(TableChange):
    path: str
    required: bool

    def step(self) -> Step:
        # Readers of a required column may not expect null
        hits = () if self.required else of_column(self.path)
        return metadata(f"make column {self.path} {'required' if self.required else 'optional'}", hits=hits)

    def verdict(self) -> Verdict:
        if self.required:
            return Verdict(writes=_unfilled(self.path), streams_from=STREAM_RUNS_ON, looks_up=LOOKUP_STOPS)
        return Verdict(
            writes=runs_on(Relation.WRITES, "a running query goes on refusing null"),
            streams_from=stops(
                Relation.STREAMS_FROM,
                f"a running query takes {self.path} for never null and would read null as zero",
            ),
            looks_up=LOOKUP_STOPS,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveColumn(TableChange):
    """``after`` as in ``AddColumn``, never None."""

    path: str
    after: str

    def step(self) -> Step:
        return metadata(f"move column {self.path} {f'after {self.after}' if self.after else 'to the front'}")

    def verdict(self) -> Verdict:
        # Columns are written by name (check-ordering is off); of fields inside a column that has not been
        # measured.
        nested = f"a running query writes the fields beside {self.path} in the old order"
        return Verdict(
            writes=stops(Relation.WRITES, nested)
            if "." in self.path
            else runs_on(Relation.WRITES, "a running query writes its columns by name"),
            streams_from=STREAM_RUNS_ON,
            looks_up=LOOKUP_RUNS_ON,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SetColumnTags(TableChange):
    text: ClassVar = "set the tags of column {0.path}"

    path: str
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SetIdentifier(TableChange):
    old: tuple[str, ...]
    new: tuple[str, ...]

    def step(self) -> Step:
        return metadata(f"identify rows by {', '.join(self.new) or 'nothing'}")


def another_field(path: str) -> Verdict:
    """The effect on the users of a column that has another field id than recorded: it is another column under
    the same name.
    """
    return _rebound(path, "writes null", "reads null")


def another_field_step(path: str) -> Step:
    """The same in words."""
    text = f"column {path} is another one than before, under another field id"
    why = "It was dropped and added again, or another column took its name, outside of FlareIaC. " + _BY_FIELD
    return losing(text, why, of_column(path))


def _rebound(path: str, writes: str, reads: str) -> Verdict:
    bound = f"a running query is bound to the {path} that was there before"
    return Verdict(
        writes=stops(Relation.WRITES, f"{bound}, and {writes} into this one"),
        streams_from=stops(Relation.STREAMS_FROM, f"{bound}, and {reads} for it"),
        looks_up=LOOKUP_STOPS,
    )


def _unfilled(path: str) -> Impact:
    return stops(
        Relation.WRITES,
        f"a running query could still write files without {path}, which no one could read then",
    )


def _value(value: Plain) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value).lower()
