"""Reads a query over relations whose columns are declared: the columns that it gives, with types as far as
they are certain, and what in it certainly is wrong. Pure. Spark judges the rest.

A name is looked up in one SELECT with its FROM, and only where all that it could mean is known: no column of
a relation whose columns are not known, no alias, no parameter, no column that Spark adds by itself. Queries
inside of expressions are not read, since their names may belong to the query around them.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final

from sqlglot import exp

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark.sql.certain_types import element_type, field_names, is_list, is_plain, struct_fields
from flareiac_spark.sql.parse import parsed, written_offset
from flareiac_spark.sql.relations import name_of
from flareiac_spark.sql.tree import clause, is_star, joins_of, place_of, sources_of
from flareiac_spark.sql.value_types import CASTS

_SPARKS_OWN: Final = re.compile(
    r"_.*|current_.*|local.*|session_user|.*user|now|all|default|grouping.*|spark_grouping_id"
)
"""Columns of metadata, and functions that are called without brackets."""
_GENERATED: Final = re.compile(r"value|col\d*|key|pos")
"""The names that generators give by themselves."""
_WINDOWS: Final = ("window", "session_window")
_UNITS: Final = re.compile(
    r"(year|quarter|month|week|day|dayofyear|dayofweek|hour|minute|second|millisecond|microsecond)s?"
)
"""The words that functions of time take as units."""
_WORD: Final = re.compile(r"\w+")
_NAMED_AS: Final = re.compile(r"\bAS\s*(,|$|FROM\b)", re.IGNORECASE)
"""A column that Spark calls ``AS``, and that sqlglot reads without a name."""
_AGGREGATES: Final = (exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max)
"""The calls that certainly are aggregates, whatever their arguments are."""
_IN_TABLES: Final = {"byte": "int", "short": "int", "timestamp": "timestamp_ntz"}
"""The names in tables of what has another one here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenColumn:
    """A column that a relation gives. ``type`` is Iceberg's text, None where it is not known."""

    name: str
    type: str | None


Columns = tuple[GivenColumn, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """Something in a query that Spark certainly refuses. ``start`` and ``end`` are offsets in its text, None
    where the place is not known.
    """

    start: int | None
    end: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownColumn(Mistake):
    """``name`` as written; ``among`` are the columns that it could have meant."""

    name: str
    among: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownField(Mistake):
    """``name`` is no field of ``of``, as written; ``among`` are its fields, none for a plain type."""

    name: str
    of: str
    type: str
    among: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NotGrouped(Mistake):
    """``name`` is a column beside aggregates that the query does not group by."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """``columns``: those that the query gives, None where they are not known."""

    columns: Columns | None
    mistakes: tuple[Mistake, ...]


def read(sql: str, known: Mapping[str, Columns | None], unsure: Collection[str] = frozenset()) -> Reading:
    """Reads one query. ``known``: the columns of inputs and earlier steps, None where they are not known;
    ``unsure``: those (in lower case) of which a name that they do not have is no mistake.
    """
    tree = parsed(sql)
    if tree is None or _NAMED_AS.search(sql):
        return Reading(columns=None, mistakes=())
    reader = _Reader(sql, frozenset(unsure))
    columns = reader.query(tree, {name.lower(): given for name, given in known.items()})
    return Reading(columns=columns, mistakes=tuple(reader.mistakes))


@dataclass(slots=True, kw_only=True, eq=False)
class _Scope:
    """The meanings of names in one SELECT. ``declared``: names that it gives by itself, anywhere in it, as
    often as it does; ``selected``: names that paths give to its columns, by which ORDER BY can call them;
    ``unsure``: the sources of which an unknown name is no mistake.
    """

    sources: dict[str, Columns | None]
    declared: Counter[str]
    selected: frozenset[str]
    unsure: frozenset[str]
    select: exp.Select

    @property
    def everything(self) -> Columns | None:
        """All columns of all sources; None where those of one are not known."""
        given_columns: list[GivenColumn] = []
        for given in self.sources.values():
            if given is None:
                return None
            given_columns.extend(given)
        return tuple(given_columns)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Meaning:
    """The meaning of a dotted name. ``column``: the name of the column that it begins with, with the place of
    its source; None where that is not certain.
    """

    column: tuple[str, str] | None
    type: str | None
    mistake: Mistake | None


_UNKNOWN: Final = _Meaning(column=None, type=None, mistake=None)


class _Reader:
    """Walks through one text."""

    def __init__(self, sql: str, unsure: frozenset[str]) -> None:
        self._sql, self._unsure = sql, unsure
        self.mistakes: dict[Mistake, None] = {}

    def query(self, node: exp.Expr, known: Mapping[str, Columns | None]) -> Columns | None:
        known = self._with_ctes(node, known)
        match node:
            case exp.Select():
                return self._select(node, known)
            case exp.SetOperation():
                left, right = self.query(node.left, known), self.query(node.right, known)
                if left is None or right is None or clause(node, "by_name") or len(left) != len(right):
                    return None
                return tuple(
                    GivenColumn(name=one.name, type=one.type if one.type == other.type else None)
                    for one, other in zip(left, right, strict=True)
                )
            case exp.Subquery():
                return _renamed(self.query(node.this, known), node)
            case _:
                return None

    def _with_ctes(self, node: exp.Expr, known: Mapping[str, Columns | None]) -> Mapping[str, Columns | None]:
        ctes = clause(node, "with_")
        if ctes is None:
            return known
        columns_by_name = dict(known)
        for cte in ctes.expressions:
            name = cte.alias.lower()
            if clause(ctes, "recursive"):
                columns_by_name[name] = None
            columns_by_name[name] = _renamed(self.query(cte.this, columns_by_name), cte)
        return columns_by_name

    def _select(self, select: exp.Select, known: Mapping[str, Columns | None]) -> Columns | None:
        sources = self._sources(select, known)
        if sources is None or any(select.args.get(name) for name in ("match", "pivots", "kind")):
            return None
        scope = _Scope(
            sources=sources,
            declared=_declared(select),
            selected=frozenset(_selected_fields(select)),
            unsure=frozenset(
                source.alias_or_name.lower()
                for source in sources_of(select)
                if isinstance(source, exp.Table) and name_of(source).lower() in self._unsure
            ),
            select=select,
        )
        if sources:
            for column in select.find_all(exp.Column):
                if column.find_ancestor(exp.Select) is select and _is_a_name(column):
                    self._note(self._meaning(column, scope).mistake)
            for path in select.find_all(exp.Dot):
                if isinstance(_root(path), exp.Bracket) and path.find_ancestor(exp.Select) is select:
                    self._type(path, scope)
            self._check_grouping(scope)
        return self._given(scope)

    def _note(self, mistake: Mistake | None) -> None:
        if mistake is not None:
            self.mistakes[mistake] = None

    def _sources(
        self, select: exp.Select, known: Mapping[str, Columns | None]
    ) -> dict[str, Columns | None] | None:
        """The columns of what it reads, by the name that qualifies them; None where names cannot be told
        apart.
        """
        columns_by_source: dict[str, Columns | None] = {}
        for number, source in enumerate(sources_of(select)):
            name = source.alias_or_name.lower()
            columns = self._source(source, known)
            if not name and isinstance(source, exp.Subquery):
                name = f"({number})"
            if not name or name in columns_by_source or clause(source, "joins") or clause(source, "laterals"):
                return None
            columns_by_source[name] = columns
        for number, lateral in enumerate(clause(select, "laterals") or ()):
            columns_by_source[lateral.alias_or_name.lower() or f"(lateral {number})"] = None
        return columns_by_source

    def _source(self, source: exp.Expr, known: Mapping[str, Columns | None]) -> Columns | None:
        match source:
            case exp.Table(this=exp.Identifier()) if not clause(source, "pivots"):
                return _renamed(known.get(name_of(source).lower()), source)
            case exp.Subquery() if not clause(source, "pivots"):
                return self.query(source, known)
            case _:
                return None

    def _meaning(self, column: exp.Column, scope: _Scope) -> _Meaning:
        """As Spark resolves it: a qualifier first, then a column and fields of it."""
        parts = _parts(column)
        first = parts[0].name.lower()
        if len(parts) > 1 and first in scope.sources:
            given = scope.sources[first]
            if given is None:
                return _UNKNOWN
            columns = _named(given, parts[1].name)
            if columns:
                return self._fields(columns, first, parts, 2, scope)
            if first in scope.unsure:
                return _UNKNOWN
            if first not in scope.declared and not (scope.everything and _named(scope.everything, first)):
                return self._unknown(parts[1], f"{parts[0].name}.{parts[1].name}", given, scope)
            return _UNKNOWN
        everything = scope.everything
        if not everything:
            return _UNKNOWN
        if columns := _named(everything, first):
            place = next(name for name, given in scope.sources.items() if given and _named(given, first))
            return self._fields(columns, place, parts, 1, scope)
        return _UNKNOWN if scope.unsure else self._unknown(parts[0], parts[0].name, everything, scope)

    def _unknown(self, part: exp.Expr, name: str, among: Columns, scope: _Scope) -> _Meaning:
        last = part.name.lower()
        inside = part.find_ancestor(exp.Alias)
        own = inside is not None and inside.alias.lower() == last  # no alias means itself
        if scope.declared[last] > own or _may_be_sparks(last, scope.select):
            return _UNKNOWN
        sorting = part.find_ancestor(exp.Order, exp.Having, exp.Select) is not scope.select
        if last in scope.selected and sorting:
            return _UNKNOWN
        start, end = self._place(part)
        names = tuple(column.name for column in among)
        return _Meaning(
            column=None, type=None, mistake=UnknownColumn(name=name, among=names, start=start, end=end)
        )

    def _fields(
        self, columns: Sequence[GivenColumn], source: str, parts: Sequence[exp.Expr], at: int, scope: _Scope
    ) -> _Meaning:
        """The type behind a path of fields."""
        if len(columns) > 1:
            return _UNKNOWN
        kind, column = columns[0].type, (source, columns[0].name.lower())
        if parts[0].name.lower() in scope.declared and at < len(parts):
            return _UNKNOWN
        for number in range(at, len(parts)):
            if kind is None:
                break
            kind, mistake = self._field(kind, parts[number], ".".join(each.name for each in parts[:number]))
            if mistake is not None:
                return _Meaning(column=column, type=None, mistake=mistake)
        return _Meaning(column=column, type=kind, mistake=None)

    def _field(self, kind: str, part: exp.Expr, of: str) -> tuple[str | None, Mistake | None]:
        """The type of one field, or that there is none."""
        if is_list(kind):
            inner = element_type(kind)
            field_type, mistake = (None, None) if inner is None else self._field(inner, part, of)
            return (None if field_type is None else f"list<{field_type}>"), mistake
        fields = struct_fields(kind)
        if fields is not None and part.name.lower() in fields:
            return fields[part.name.lower()], None
        if fields is None and not is_plain(kind):
            return element_type(kind), None
        start, end = self._place(part)
        among = field_names(kind) if fields is not None else ()
        return None, UnknownField(name=part.name, of=of, type=kind, among=among, start=start, end=end)

    def _place(self, part: exp.Expr) -> tuple[int | None, int | None]:
        place = place_of(part)
        if place is None:
            return None, None
        return written_offset(self._sql, place[0]), written_offset(self._sql, place[1] - 1) + 1

    def _given(self, scope: _Scope) -> Columns | None:
        given_columns: list[GivenColumn] = []
        for expression in scope.select.expressions:
            columns = self._given_by(expression, scope)
            if columns is None:
                return None
            given_columns.extend(columns)
        return tuple(given_columns)

    def _given_by(self, expr: exp.Expr, scope: _Scope) -> Sequence[GivenColumn] | None:
        if is_star(expr):
            return _starred(expr, scope)
        match expr:
            case exp.Alias():
                return [GivenColumn(name=expr.alias, type=self._type(expr.this, scope))]
            case exp.Column() if _SPARKS_OWN.fullmatch(expr.name.lower()) and (
                self._meaning(expr, scope).column is None
            ):
                return None  # the column of a function without brackets has another name
            case exp.Column() | exp.Dot() if expr.name and _WORD.fullmatch(expr.name):
                return [GivenColumn(name=expr.name, type=self._type(expr, scope))]
            case _:
                return None

    def _type(self, expr: exp.Expr, scope: _Scope) -> str | None:
        match expr:
            case exp.Column():
                return self._meaning(expr, scope).type if scope.sources and _is_a_name(expr) else None
            case exp.Dot():
                return self._path_type(expr, scope)
            case exp.Bracket():
                return element_type(self._type(expr.this, scope))
            case exp.Max() | exp.Min() | exp.Paren() if not expr.expressions:
                return self._type(expr.this, scope)
            case _:
                return _own_type(expr)

    def _path_type(self, path: exp.Dot, scope: _Scope) -> str | None:
        """The type of ``a.b.c``, of whatever it begins with."""
        if isinstance(column := _root(path), exp.Column):
            return self._type(column, scope)
        kind = self._type(path.this, scope)
        if kind is None or not isinstance(path.expression, exp.Identifier):
            return None
        field_type, mistake = self._field(kind, path.expression, path.this.sql(dialect="spark"))
        self._note(mistake)
        return field_type

    def _check_grouping(self, scope: _Scope) -> None:
        """Columns beside aggregates that the query does not group by."""
        select = scope.select
        group = clause(select, "group")
        if group is None:
            if not any(_own_aggregates(expression, select) for expression in select.expressions):
                return
            grouped: set[tuple[str, str]] = set()
        else:
            if not group.expressions or any(
                value for name, value in group.args.items() if name != "expressions"
            ):
                return
            groupings = [self._grouped_by(each, scope) for each in group.expressions]
            if None in groupings:
                return
            grouped = {each for keys in groupings for each in keys or ()}
        for expression in select.expressions:
            value = expression.this if isinstance(expression, exp.Alias) else expression
            column = _root(value)
            if not isinstance(column, exp.Column) or not _is_a_name(column):
                continue
            meaning = self._meaning(column, scope)
            if meaning.column is None or meaning.column in grouped or column.name.lower() in scope.declared:
                continue
            start, _ = self._place(_parts(column)[0])
            _, end = self._place(_parts(column)[-1])
            name = ".".join(part.name for part in _parts(column))
            self._note(NotGrouped(name=name, start=start, end=end))

    def _grouped_by(self, expr: exp.Expr, scope: _Scope) -> list[tuple[str, str]] | None:
        """The column that a key is; none for what is computed, which makes no column a key. None where that
        is not certain.
        """
        column = _root(expr)
        if isinstance(column, exp.Column) and _is_a_name(column):
            meant = self._meaning(column, scope).column
            return None if meant is None else [meant]
        return [] if isinstance(expr, exp.Func) else None


def _own_type(expr: exp.Expr) -> str | None:
    """The type of an expression, whatever the types inside it are."""
    match expr:
        case exp.Cast():
            return _named_type(clause(expr, "to").sql(dialect="spark").lower())
        case exp.Literal():
            return "string" if expr.is_string else "int" if expr.name.isdecimal() else "double"
        case exp.Boolean() | exp.Predicate() | exp.Not() | exp.And() | exp.Or():
            return "boolean"
        case exp.Count():
            return "long"
        case _:
            return None


def _own_aggregates(expr: exp.Expr, select: exp.Select) -> bool:
    """Returns True if an item certainly has an aggregate of this SELECT."""
    return any(
        call.find_ancestor(exp.Select) is select
        and call.find_ancestor(exp.Window) is None
        and not call.expressions
        for call in expr.find_all(*_AGGREGATES)
    )


def _starred(expr: exp.Expr, scope: _Scope) -> Sequence[GivenColumn] | None:
    """The columns for which ``*``, ``t.*`` and ``* EXCEPT (a)`` stand, in order; None where they are not
    certain.
    """
    star = expr.this if isinstance(expr, exp.Column) else expr
    if any(value for name, value in star.args.items() if name != "except_"):
        return None
    select, qualifier = scope.select, expr.table.lower() if isinstance(expr, exp.Column) else ""
    if isinstance(expr, exp.Column) and len(expr.parts) > 2:
        return None
    joins = joins_of(select)
    merging = [join for join in joins if _merges(join)]
    if clause(select, "laterals") or (merging and not qualifier):
        return None
    if qualifier:
        given = scope.sources.get(qualifier)
    else:
        given = None if scope.everything is None or any(map(_hides, joins)) else scope.everything
    if given is None or len(merging) > 1 or any(clause(join, "method") or join.side for join in merging):
        return None
    # Spark gives the columns of USING first
    first = [each.name.lower() for join in merging for each in clause(join, "using")]
    given = (
        *(column for name in first for column in given if column.name.lower() == name),
        *(column for column in given if column.name.lower() not in first),
    )
    dropped = clause(star, "except_") or ()
    names = {column.name.lower() for column in dropped}
    if any(isinstance(column, exp.Dot) or getattr(column, "table", "") for column in dropped):
        return None
    return [column for column in given if column.name.lower() not in names]


def _merges(join: exp.Join) -> bool:
    """Returns True if two columns of its sides become one."""
    return bool(clause(join, "using") or clause(join, "method"))


def _hides(join: exp.Join) -> bool:
    """Returns True if the columns of its right side are not seen after it."""
    return (join.kind or "").upper() in ("SEMI", "ANTI") or (join.side or "").upper() in ("SEMI", "ANTI")


def _renamed(columns: Columns | None, source: exp.Expr) -> Columns | None:
    """With the names that an alias lists."""
    alias = clause(source, "alias")
    names = [each.name for each in alias.columns] if isinstance(alias, exp.TableAlias) else []
    if not names or columns is None:
        return columns
    if len(names) != len(columns):
        return None
    return tuple(
        GivenColumn(name=name, type=column.type) for name, column in zip(names, columns, strict=True)
    )


def _named(columns: Columns, name: str) -> list[GivenColumn]:
    return [column for column in columns if column.name.lower() == name.lower()]


def _parts(column: exp.Column) -> list[exp.Expr]:
    """The identifiers of a dotted name, however long it is."""
    identifiers: list[exp.Expr] = list(column.parts)
    at: exp.Expr = column
    while isinstance(at.parent, exp.Dot) and at.parent.this is at:
        at = at.parent
        if not isinstance(at.expression, exp.Identifier):
            break
        identifiers.append(at.expression)
    return identifiers


def _root(expr: exp.Expr) -> exp.Expr:
    while isinstance(expr, exp.Dot):
        expr = expr.this
    return expr


def _declared(select: exp.Select) -> Counter[str]:
    """Names that the query gives by itself, anywhere in it: aliases, parameters of lambdas, windows."""
    names = [node.alias for node in select.find_all(exp.Alias, exp.TableAlias, exp.Window) if node.alias]
    names += [each.name for node in select.find_all(exp.Aliases, exp.Lambda) for each in node.expressions]
    names += [each.name for node in select.find_all(exp.TableAlias) for each in node.columns]
    return Counter(name.lower() for name in names)


def _selected_fields(select: exp.Select) -> Iterator[str]:
    """Names that a path gives to its column, by which ORDER BY can call it."""
    for expression in select.expressions:
        if isinstance(expression, exp.Dot) or (
            isinstance(expression, exp.Column) and len(expression.parts) > 1
        ):
            yield expression.name.lower()


def _may_be_sparks(name: str, select: exp.Select) -> bool:
    """Returns True if Spark may give a column of this name by itself."""
    if _SPARKS_OWN.fullmatch(name) or not _WORD.fullmatch(name):
        return True
    if name in _WINDOWS:
        return any(call == name for call in _calls(select))
    return _GENERATED.fullmatch(name) is not None and any(map(_may_generate, _calls(select)))


def _calls(select: exp.Select) -> Iterator[str]:
    for call in select.find_all(exp.Func):
        yield call.name.lower() if isinstance(call, exp.Anonymous) else call.sql_name().lower()


def _may_generate(call: str) -> bool:
    return any(word in call for word in ("explode", "inline", "stack", "tuple", "unnest", "generate", "udtf"))


def _is_a_name(column: exp.Column) -> bool:
    """Returns True if it is a column of a source, and no star, hint, unit of time, name of an argument or
    path into a value.
    """
    if isinstance(column.parts[-1], exp.Star) or any("." in part.name for part in column.parts):
        return False
    if (
        column.find_ancestor(exp.Hint, exp.Star, exp.Interval, exp.JSONPath, exp.Lateral, exp.Pivot)
        is not None
    ):
        return False
    window = column.find_ancestor(exp.Window)
    if window is not None and window.arg_key == "windows":
        return False  # Spark looks at those that are used only
    if isinstance(column.parent, exp.Kwarg | exp.PropertyEQ) and column.arg_key == "this":
        return False
    return not (isinstance(column.parent, exp.Func) and _UNITS.fullmatch(column.name.lower()))


@lru_cache(maxsize=256)
def _named_type(written: str) -> str | None:
    if decimal := re.fullmatch(r"decimal(?:\((\d+)(?:, ?(\d+))?\))?", written):
        return f"decimal({decimal[1] or 10},{decimal[2] or 0})"
    kind = CASTS.get(written)
    return None if kind is None else _IN_TABLES.get(kind, kind)


def columns_given(sql: str, known: Mapping[str, Sequence[str] | None]) -> tuple[str, ...] | None:
    """The names of the columns that a query gives, ``known`` being those of the relations it may read; None
    where that cannot be determined.
    """
    typed = {
        name: None if names is None else tuple(GivenColumn(name=each, type=None) for each in names)
        for name, names in known.items()
    }
    columns = read(sql, typed).columns
    return None if columns is None else tuple(column.name for column in columns)
