"""The outputs that keep deletes: of each merge with ``tombstones``, the table with the keys that it deleted
and how late. They are outputs like others, in the query of the merge, and are written before it. Pure.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from flareiac.kernel.codes import Code
from flareiac.kernel.data import Attributes, Data, Reference
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.paths import Path
from flareiac.sdk.references import References
from flareiac_spark import codes
from flareiac_spark.column_types import Column, table_columns
from flareiac_spark.definition.output_definition import Merge, Output, TableOutput
from flareiac_spark.definition.outputs import OutputSources
from flareiac_spark.sql.conditions import reads_from

_NAME: Final = "tombstones."
"""The beginning of the name of the output that keeps the deletes of another one. A label has no dot."""


def output_name(output: str) -> str:
    """The name of the output that keeps the deletes of an output."""
    return f"{_NAME}{output}"


def tombstone_outputs(
    declared: Attributes,
    outputs: Mapping[str, Output],
    sources: OutputSources,
    references: References,
    diagnostics: Diagnostics,
) -> dict[str, TableOutput]:
    """One for each merge that names a table of tombstones. What is wrong is reported."""
    table_outputs: dict[str, TableOutput] = {}
    for name, output in outputs.items():
        table = _named(declared[name].get("merge"))
        if table is None or not isinstance(output, TableOutput) or output.merge is None:
            continue
        rules = _Rules(name, output, output.merge, table, references)
        for code, why, path in rules.problems(outputs, table_outputs):
            diagnostics.error(code, why, attribute=("output", name, *path))
        filled = sources.filled(output.source)
        table_outputs[output_name(name)] = replace(
            output,
            table=table,
            options={},
            columns={
                column.name: column.text
                for column in rules.kept
                if filled is None or column.name.lower() in filled
            },
            tombstones_of=name,
        )
    return table_outputs


def _named(merge: Data) -> Reference | None:
    table = merge.get("tombstones") if isinstance(merge, dict) else None
    return table if isinstance(table, Reference) else None


class _Rules:
    """The rules for one merge and its table of tombstones. Columns that are not declared are not judged."""

    def __init__(
        self, name: str, output: TableOutput, merge: Merge, table: Reference, references: References
    ) -> None:
        self._name, self._output, self._merge, self._table = name, output, merge, table
        self.kept: Sequence[Column] = table_columns(table, references)
        self._target: Sequence[Column] = table_columns(output.table, references)

    def problems(
        self, outputs: Mapping[str, Output], before: Mapping[str, TableOutput]
    ) -> Iterator[tuple[Code, str, Path]]:
        """Each with its code and the path of its attribute within the output."""
        at = ("merge",)
        for why in (*self._incomplete(), *self._depends_on_target()):
            yield codes.TOMBSTONES_INCOMPLETE, why, at
        for why in self._order_not_kept():
            yield codes.TOMBSTONES_WITHOUT_ORDER, why, at
        for why in self._misfits() if self.kept else ():
            yield codes.TOMBSTONE_TABLE_UNFIT, why, at
        for user in self._other_uses(outputs, before):
            shared = (
                f"{self._table} keeps the deletes of output {self._name}, and {user}. A row would be left "
                "out because of a delete that is not of its table. Declare a table for the tombstones alone: "
                f"{self._example()}."
            )
            yield codes.TOMBSTONE_TABLE_SHARED, shared, at

    def _incomplete(self) -> Iterator[str]:
        what = f"Output {self._name} keeps tombstones in {self._table}"
        if self._merge.latest_by is None:
            yield (
                f"{what}, and does not say which of two changes of a key is the later one. Write in merge: "
                'latest_by = "COLUMN", a column that grows with each change.'
            )
        if self._merge.delete_if is None:
            yield (
                f"{what}, and deletes no row. Write in merge the condition of a delete, such as delete_if = "
                "\"s.op = 'd'\"; or remove tombstones."
            )

    def _depends_on_target(self) -> Iterator[str]:
        condition = self._merge.delete_if
        if condition is not None and reads_from(condition, "t"):
            yield (
                f"delete_if of output {self._name} reads t, the row of the table ({condition}). A delete "
                "whose row is not there, or not yet, cannot be distinguished from any other change, and no "
                "tombstone could be kept of it. Write a condition on s alone."
            )

    def _order_not_kept(self) -> Iterator[str]:
        order = self._merge.latest_by
        if order is None or not self._target or _find(self._target, order) is not None:
            return
        yield (
            f"{self._output.table} has no column {order}, so that a row which is there has no order: an "
            f"older one that arrives late replaces it, with tombstones or without. Add it: "
            f'column "{order}" {{ type = ... }}.'
        )

    def _misfits(self) -> Iterator[str]:
        order = [self._merge.latest_by] if self._merge.latest_by is not None else []
        for name in dict.fromkeys((*self._merge.on, *order)):
            wanted, kept = _find(self._target, name), _find(self.kept, name)
            if kept is None:
                kind = wanted.type if wanted is not None else "..."
                yield (
                    f"{self._table} has no column {name}. A tombstone is the key of a deleted row and the "
                    f'{self._merge.latest_by or "latest_by"} of its delete: column "{name}" {{ type = '
                    f'"{kind}" }}.'
                )
            elif wanted is not None and kept.type != wanted.type:
                yield (
                    f"The column {name} of {self._table} is {kept.type}, and {wanted.type} in "
                    f"{self._output.table}. Their values are compared: declare the same type in both."
                )
            elif kept.required and not (wanted is not None and wanted.required):
                yield (
                    f"The column {name} of {self._table} is not null, and in {self._output.table} it may be "
                    "null: a delete of such a row would fail the job. Make it optional, or not null in both."
                )
        needed = {name.lower() for name in (*self._merge.on, *order)}
        for column in self.kept:
            if column.required and column.name.lower() not in needed:
                yield (
                    f"The column {column.name} of {self._table} is not null. Beside the key and the order a "
                    "tombstone contains only the columns of the delete event; others are null. Make the "
                    "column optional."
                )

    def _other_uses(self, outputs: Mapping[str, Output], before: Mapping[str, TableOutput]) -> Iterator[str]:
        for name, other in outputs.items():
            if isinstance(other, TableOutput) and other.table == self._table:
                yield f"output {name} writes its rows there"
        for other in before.values():
            if other.table == self._table:
                yield f"output {other.tombstones_of} keeps its deletes there, too"

    def _example(self) -> str:
        return f'table "{self._name}_deleted" {{ ... }}'


def _find(columns: Sequence[Column], name: str) -> Column | None:
    return next((column for column in columns if column.name.lower() == name.lower()), None)
