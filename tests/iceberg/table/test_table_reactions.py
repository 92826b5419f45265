"""The effect of each change of a table on the queries that run on it: the whole table of verdicts."""

import itertools

import pytest

from flareiac.sdk.changes import Reaction, Relation
from flareiac_iceberg.format.spec import PartitionField
from flareiac_iceberg.table.changes import (
    AddPartitionField,
    Change,
    RemovePartitionField,
    RemoveProperty,
    RenamePartitionField,
    SetDistribution,
    SetProperty,
    SetSortOrder,
    SetTableComment,
    SetTag,
    UpgradeFormat,
)
from flareiac_iceberg.table.column_changes import (
    AddColumn,
    DropColumn,
    MoveColumn,
    RenameColumn,
    SetColumnComment,
    SetColumnTags,
    SetIdentifier,
    SetNullability,
    WidenType,
)
from flareiac_iceberg.table.effects import ANOTHER_TABLE, disturbances

RUNS, STOPS, ENDS = Reaction.RUNS_ON, Reaction.STOPS_FIRST, Reaction.CAN_NOT
FIELD = PartitionField(transform="day", column="ts", param=None, name=None)
VERDICTS: list[tuple[Change, Reaction, Reaction, Reaction]] = [  # writes, streams from, looks up
    (AddColumn(path="n", type="long", required=False, comment=None, after=None), RUNS, RUNS, RUNS),
    (AddColumn(path="n", type="long", required=True, comment=None, after=None), STOPS, RUNS, RUNS),
    (RenameColumn(path="n", new="m"), STOPS, RUNS, STOPS),
    (RenameColumn(path="a.n", new="a.m"), STOPS, RUNS, STOPS),
    (DropColumn(path="n"), STOPS, STOPS, STOPS),
    (WidenType(path="n", old="int", new="long"), RUNS, STOPS, STOPS),
    (MoveColumn(path="n", after=""), RUNS, RUNS, RUNS),
    (MoveColumn(path="a.n", after=""), STOPS, RUNS, RUNS),
    (SetNullability(path="n", required=False), RUNS, STOPS, STOPS),
    (SetNullability(path="n", required=True), STOPS, RUNS, STOPS),
    (SetColumnComment(path="n", old="", new="x"), RUNS, RUNS, RUNS),
    (SetColumnTags(path="n", tags=("pii",)), RUNS, RUNS, RUNS),
    (SetTableComment(new="x"), RUNS, RUNS, RUNS),
    (SetTag(name="team", new="x"), RUNS, RUNS, RUNS),
    (SetIdentifier(old=(), new=("n",)), RUNS, RUNS, RUNS),
    (AddPartitionField(field=FIELD), RUNS, RUNS, RUNS),
    (RemovePartitionField(field=FIELD), RUNS, RUNS, RUNS),
    (RenamePartitionField(field=FIELD, new="d"), RUNS, RUNS, RUNS),
    (SetSortOrder(fields=()), RUNS, RUNS, RUNS),
    (SetDistribution(old=None, new="hash"), RUNS, RUNS, RUNS),
    (SetProperty(name="a", old=None, new="b"), RUNS, RUNS, RUNS),
    (RemoveProperty(name="a", old="b"), RUNS, RUNS, RUNS),
    (UpgradeFormat(old=1, new=2), RUNS, RUNS, RUNS),
]


@pytest.mark.parametrize(("change", "writes", "streams_from", "looks_up"), VERDICTS)
def test_the_verdict_of_each_change(
    change: Change, writes: Reaction, streams_from: Reaction, looks_up: Reaction
) -> None:
    found = change.verdict()
    assert (found.writes.reaction, found.streams_from.reaction, found.looks_up.reaction) == (
        writes,
        streams_from,
        looks_up,
    )
    assert [item.relation for item in found.all() if not item.tolerance] == [
        Relation.WRITES,
        Relation.STREAMS_FROM,
        Relation.LOOKS_UP,
    ]


def test_another_table_ends_its_streams() -> None:
    assert [(item.relation, item.reaction) for item in ANOTHER_TABLE] == [
        (Relation.WRITES, STOPS),
        (Relation.STREAMS_FROM, ENDS),
        (Relation.LOOKS_UP, STOPS),
    ]


@pytest.mark.parametrize("pair", list(itertools.permutations([row[0] for row in VERDICTS[:9]], 2)))
def test_the_hardest_of_several_changes_counts(pair: tuple[Change, Change]) -> None:
    found = disturbances(change.verdict() for change in pair)
    for relation in (Relation.WRITES, Relation.STREAMS_FROM, Relation.LOOKS_UP):
        wanted = {
            item.reaction
            for change in pair
            for item in change.verdict().all()
            if item.relation is relation and not item.tolerance
        }
        assert {
            item.reaction for item in found if item.relation is relation and not item.tolerance
        } == wanted - ({RUNS} if STOPS in wanted else set())
