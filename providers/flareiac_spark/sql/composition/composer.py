"""Follows the names from an output to the relations that are read, and puts all texts into one query."""

from collections.abc import Collection
from dataclasses import replace

from sqlglot import exp

from flareiac_spark.sql.composition import supported
from flareiac_spark.sql.composition.composing import Made
from flareiac_spark.sql.composition.fingerprint import fingerprint
from flareiac_spark.sql.composition.layers import deduplicated, marked, scanned
from flareiac_spark.sql.composition.order import ended
from flareiac_spark.sql.composition.relation import Names, Relation
from flareiac_spark.sql.composition.resolve import Resolver
from flareiac_spark.sql.composition.scope import CannotTell, Scope
from flareiac_spark.sql.composition.select import select
from flareiac_spark.sql.composition.set_operation import set_operation
from flareiac_spark.sql.composition.windows import windows_of
from flareiac_spark.sql.functions import UNSTABLE
from flareiac_spark.sql.operators import Composed, Scan, prune
from flareiac_spark.sql.query import Query
from flareiac_spark.sql.raw_parse import raw_parse


def compose(query: Query, moved: Collection[str] = ()) -> Composed:
    """The query behind the output, without what nothing reads. ``moved``: relations (in lower case) whose
    columns may be others than those of the query that this one is compared with. Raises ``CannotTell``.
    """
    return _Composer(query, moved).whole(query.source)


class _Composer:
    def __init__(self, query: Query, moved: Collection[str]) -> None:
        self.made = Made()
        self._moved = moved
        self._watermarked = {name.lower() for name in query.watermarked}
        self._identities = {name.lower(): identity for name, identity in query.identities.items()}
        self._steps = {name.lower(): (name, sql) for name, sql in query.steps.items()}
        self._streamed = {name.lower() for name in query.streams}
        self._columns = {name.lower(): list(known) for name, known in query.columns.items()}
        self._dedups = {name.lower(): keys for name, keys in query.dedups.items()}

    def whole(self, source: str) -> Composed:
        """The query behind a step or an input."""
        relation = self.named((source.lower(),), Names(step=source, ctes={}))
        composed = self._composed(relation)
        composed.hints = self.made.hints
        if self.made.windows - windows_of(composed):
            raise CannotTell(
                "a window that stands in no output and in no key makes or drops rows all the same"
            )
        return composed

    def named(self, parts: tuple[str, ...], names: Names) -> Relation:
        """The rows for which a name in FROM stands: a CTE before a step, and a step before an input."""
        name = parts[-1]
        if len(parts) == 1 and name in names.ctes:
            tree, inside, columns = names.ctes[name]
            return self.query(tree, inside).renamed(columns)
        if len(parts) == 1 and name in self._steps and name not in names.steps:
            return self._step(name, names)
        return self._scan(".".join(parts), names.step)

    def _step(self, name: str, names: Names) -> Relation:
        """The rows of a step, where it is read: its text is composed once for each place that reads it."""
        written, sql = self._steps[name]
        tree = raw_parse(sql)
        if tree is None:
            raise CannotTell(f"the SQL of step {written} is not read here")
        relation = self.query(tree, Names(step=written, steps=(*names.steps, name), ctes={}))
        if name in self._watermarked:
            relation = marked(self.made, relation, written)
        if name in self._dedups:
            relation = deduplicated(self.made, relation, written, self._dedups[name])
        return relation

    def _scan(self, relation: str, step: str) -> Relation:
        scan = Scan(
            id=self.made.id("scan"),
            step=step,
            relation=self._identities.get(relation, relation),
            streams=relation in self._streamed,
        )
        columns, moved = self._columns.get(relation, []), relation in self._moved
        return scanned(self.made, scan, columns, moved=moved)

    def query(self, tree: exp.Expr, names: Names) -> Relation:
        """The rows of a query of any kind."""
        names = names.with_ctes(tree)
        match tree:
            case exp.Select():
                return select(self, tree, names)
            case exp.SetOperation():
                return set_operation(self, tree, names)
            case exp.Subquery():
                supported.only(tree, supported.SUBQUERY)
                return ended(self, self.query(tree.this, names), tree, names)
            case _:
                raise CannotTell(f"{tree.key} is not read here")

    def resolver(self, scope: Scope, names: Names) -> Resolver:
        """Gives the columns of a SELECT their meaning, and composes the queries inside its expressions."""
        return Resolver(scope, lambda query, inside: self._aside(query, replace(names, outer=inside)))

    def _aside(self, query: exp.Expr, names: Names) -> exp.Expr:
        """A query inside an expression, as the text of its outline and the outer columns that it reads."""
        before = set(self.made.operators)
        relation = self.query(query, names)
        own = set(self.made.operators) - before
        if any(self.made.operators[each].streams for each in own):
            raise CannotTell("a stream is read inside an expression")
        text, outer = fingerprint(self._composed(relation))
        random = any(f"{name}(" in text for name in UNSTABLE)
        return exp.Anonymous(
            this="@random_query" if random else "@query", expressions=[exp.Literal.string(text), *outer]
        )

    def _composed(self, relation: Relation) -> Composed:
        composed = Composed(block=relation.block, outputs=relation.outputs, operators=self.made.operators)
        prune(composed)
        return composed
