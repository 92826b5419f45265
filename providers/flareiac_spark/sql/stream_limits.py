"""Operations that Spark's streams do not have, as far as a query certainly has them. Pure.

Measured on Spark 4.1. Only the parts of a query that Spark runs over a stream count: a table may be sorted
before a stream is joined with it.
"""

from collections.abc import Collection, Iterator, Mapping
from enum import StrEnum

from sqlglot import exp

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark.sql.parse import parsed, written_offset
from flareiac_spark.sql.relations import name_of
from flareiac_spark.sql.tree import clause, joins_of, place_of, sources_of


class StreamLimit(StrEnum):
    """A part of a query that Spark does not run over a stream."""

    SORT = "it sorts"
    OFFSET = "it has OFFSET"
    WINDOW = "it has a function over a window of rows (OVER)"
    DISTINCT_AGGREGATE = "it aggregates distinct values"
    SAMPLE = "it has TABLESAMPLE"
    EXCEPT = "a stream stands on the right of EXCEPT"
    INTERSECT = "it has INTERSECT"
    UNION = "it has a UNION of a stream and of what is no stream"
    OUTER_JOIN = "an outer, semi or anti join keeps rows of what is no stream by those of a stream"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limited:
    """``start`` and ``end`` are offsets in the query, None where the place is not known."""

    limit: StreamLimit
    start: int | None
    end: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamReading:
    """``streams``: whether the query gives a stream; None where that is not certain."""

    streams: bool | None
    limits: tuple[Limited, ...]


def stream_reading(sql: str, known: Mapping[str, bool | None], complete: bool) -> StreamReading:
    """Reads one query. ``known``: whether each input and earlier step, by its name in lower case, is a
    stream; None where that is not certain. ``complete``: whether its rows may be written in complete mode,
    where a sort is possible.
    """
    tree = parsed(sql)
    if tree is None:
        return StreamReading(streams=None, limits=())
    reader = _Reader(sql, complete)
    streaming = reader.query(tree, known)
    return StreamReading(streams=streaming, limits=tuple(dict.fromkeys(reader.limits)))


class _Reader:
    """Walks through one text. A query of which it is not certain what it reads gives None."""

    def __init__(self, sql: str, complete: bool) -> None:
        self._sql, self._complete = sql, complete
        self.limits: list[Limited] = []

    def query(self, node: exp.Expr, known: Mapping[str, bool | None]) -> bool | None:
        ctes = clause(node, "with_")
        if ctes is not None:
            if clause(ctes, "recursive"):
                return None
            for cte in ctes.expressions:
                known = {**known, cte.alias.lower(): self.query(cte.this, known)}
        match node:
            case exp.Select():
                return self._select(node, known)
            case exp.SetOperation():
                return self._set_operation(node, known)
            case exp.Subquery() if not clause(node, "pivots"):
                given = self.query(node.this, known)
                self._ordered(node, given)
                return given
            case _:
                return None

    def _set_operation(self, node: exp.SetOperation, known: Mapping[str, bool | None]) -> bool | None:
        left, right = self.query(node.left, known), self.query(node.right, known)
        if left is None or right is None:
            return None
        match node:
            case exp.Except() if right:
                self._note(StreamLimit.EXCEPT, node)
            case exp.Intersect() if left or right:
                self._note(StreamLimit.INTERSECT, node)
            case exp.Union() if left != right:
                self._note(StreamLimit.UNION, node)
            case _:
                pass
        self._ordered(node, left or right)
        return left or right

    def _select(self, select: exp.Select, known: Mapping[str, bool | None]) -> bool | None:
        given = [self._source(source, known) for source in sources_of(select)]
        if None in given or clause(select, "pivots"):
            return None
        if not given or clause(select, "laterals"):
            return any(given)
        joins = joins_of(select)
        streaming = bool(given[0])
        for join, right in zip(joins, given[1:], strict=True):
            self._joined(join, streaming, bool(right))
            streaming = streaming or bool(right)
        if not streaming:
            return False
        self._ordered(select, streaming)
        for node in select.find_all(exp.Window, exp.Distinct):
            if node.find_ancestor(exp.Select) is not select:
                continue
            match node:
                case exp.Window() if node.arg_key != "windows":
                    self._note(StreamLimit.WINDOW, node)
                case exp.Distinct() if node.parent is not select and isinstance(node.parent, exp.AggFunc):
                    self._note(StreamLimit.DISTINCT_AGGREGATE, node)
                case _:
                    pass
        return True

    def _source(self, source: exp.Expr, known: Mapping[str, bool | None]) -> bool | None:
        if clause(source, "joins") or clause(source, "laterals") or clause(source, "pivots"):
            return None
        match source:
            case exp.Table(this=exp.Identifier()):
                given = known.get(name_of(source).lower())
            case exp.Subquery():
                given = self.query(source, known)
            case _:
                return None
        sample = clause(source, "sample")
        # A number of rows is a LIMIT to Spark, which a stream may have
        if given and sample is not None and not clause(sample, "size"):
            self._note(StreamLimit.SAMPLE, source)
        return given

    def _joined(self, join: exp.Join, left: bool, right: bool) -> None:
        if left == right:
            return
        side, kind = (join.side or "").upper(), (join.kind or "").upper()
        kept = {"LEFT": left, "RIGHT": right, "FULL": False}.get(side, True)
        if kind in ("SEMI", "ANTI"):
            kept = left
        if not kept:
            self._note(StreamLimit.OUTER_JOIN, join)

    def _ordered(self, query: exp.Expr, streaming: bool | None) -> None:
        if not streaming:
            return
        if not self._complete:
            for name in ("order", "sort", "cluster"):
                if (node := query.args.get(name)) is not None:
                    self._note(StreamLimit.SORT, node)
        if (offset := clause(query, "offset")) is not None:
            self._note(StreamLimit.OFFSET, offset)

    def _note(self, limit: StreamLimit, node: exp.Expr) -> None:
        """With the place of the names inside it, as the parser keeps no other."""
        places = [place for each in node.find_all(exp.Identifier) if (place := place_of(each)) is not None]
        if not places or isinstance(node, exp.Query):
            self.limits.append(Limited(limit=limit, start=None, end=None))
            return
        start = written_offset(self._sql, min(start for start, _ in places))
        end = written_offset(self._sql, max(end for _, end in places) - 1) + 1
        self.limits.append(Limited(limit=limit, start=start, end=end))


def reached(sources: Collection[str], reads: Mapping[str, Collection[str]]) -> Iterator[str]:
    """The steps that outputs of these sources are made of, in lower case."""
    open_names, seen = list(sources), set[str]()
    while open_names:
        name = open_names.pop().lower()
        if name in seen:
            continue
        seen.add(name)
        if name in reads:
            yield name
            open_names.extend(reads[name])
