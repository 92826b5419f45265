"""A merge with tombstones: a late older row of a deleted key stays away, however changes are cut into
batches, delivered twice, or broken off.
"""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from pyiceberg.schema import Schema
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FixedType,
    FloatType,
    IcebergType,
    IntegerType,
    ListType,
    LongType,
    NestedField,
    StructType,
    TimestampType,
    TimestamptzType,
    UUIDType,
)

from flareiac.kernel import kill_points
from flareiac_spark_runtime.control import job_spec_from_json
from flareiac_spark_runtime.driver import merge_rows
from flareiac_spark_runtime.driver.commit_marks import BATCH_ID, CHECKPOINT_ID, OUTPUT
from tests.facts.lake import Home, collected
from tests.spark.driver.test_micro_batch import KEYED, Workshop, branch_rows, shuffles
from tests.support.driver_application import driver_application

pytestmark = pytest.mark.jvm

Change: TypeAlias = tuple[int | None, int | None, str | None]
"""Key, order, note; the note ``gone`` is a delete."""
RULE = {"on": ["id"], "latest_by": "at", "delete_if": "s.note = 'gone'"}
KEPT = {"id": "long", "at": "long"}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    made = Home(root=tmp_path_factory.mktemp("lake"))
    made.catalog().close()
    return made


@pytest.fixture(scope="module")
def application(home: Home, jars: tuple[Path, ...], java_home: Path) -> Iterator[Any]:
    conf = {**home.spark_conf(), "spark.sql.shuffle.partitions": "2"}
    with driver_application(conf, jars, java_home, home.root) as session:
        yield session


class Registry(Workshop):
    """A workshop with a merge that keeps its deletes."""

    def merged(self, name: str = "kept", merge: dict[str, Any] = RULE, **more: Any) -> list[dict[str, Any]]:
        """The outputs of one merge: its table, and the table of its tombstones."""
        columns, kept = more.pop("columns", KEYED), more.pop("kept", KEPT)
        for table, there in ((name, columns), (f"{name}_deleted", kept)):
            if not self.catalog.table_exists(f"{self.namespace}.{table}"):
                self.create(table, there)
        output = self.output(name, columns, mode="merge", merge=merge, **more)
        deleted = {
            **self.output(f"{name}_deleted", kept, mode="merge", merge=merge, **more),
            "name": f"tombstones.{name}",
            "checkpoint": output["checkpoint"],
            "tombstones_of": name,
        }
        return [output, deleted]


@pytest.fixture
def lake(surroundings: dict[str, Any]) -> Registry:
    return Registry(**surroundings)


# What stays away, and what comes back


def test_a_late_older_row_does_not_bring_a_deleted_key_back(lake: Registry) -> None:
    spec = lake.job(*lake.merged())
    assert lake.analyse(spec).findings == ()
    lake.events((1, 1, "a"), (2, 1, "a"), (3, 5, "gone"), (None, 3, "gone"))
    lake.events((1, 4, "gone"), (2, 2, "gone"))
    lake.events((1, 3, "late"), (2, 3, "again"), (3, 4, "late"), (None, 2, "late"), (4, 1, "new"))
    lake.events((1, 2, "later still"), (None, 4, "again"), (3, None, "without order"))
    lake.run(spec)
    assert lake.rows("kept") == sorted([(2, 3, "again"), (4, 1, "new"), (None, 4, "again")], key=repr)
    # A tombstone stays where a newer row has made its key again: an even later older row loses to that row
    assert lake.rows("kept_deleted") == sorted([(1, 4), (2, 2), (3, 5), (None, 3)], key=repr)


@pytest.mark.parametrize("batches", [1, 2], ids=["one batch", "two batches"])
@pytest.mark.parametrize("delete_first", [True, False])
def test_of_a_delete_and_a_row_of_equal_order_the_delete_counts(
    lake: Registry, batches: int, delete_first: bool
) -> None:
    changes: list[Change] = [(1, 5, "zz"), (1, 5, "gone"), (2, None, "zz"), (2, None, "gone")]
    if delete_first:
        changes.reverse()
    if batches == 1:
        lake.events(*changes)
    else:
        for change in changes:
            lake.events(change)
    lake.run(lake.job(*lake.merged()))
    assert lake.rows("kept") == []
    assert lake.rows("kept_deleted") == sorted([(1, 5), (2, None)], key=repr)


def test_a_batch_without_deletes_commits_no_tombstones(lake: Registry) -> None:
    spec = lake.job(*lake.merged())
    lake.events((1, 1, "a"))
    lake.events((2, 1, "a"))
    lake.run(spec)
    assert (lake.summaries("kept_deleted"), len(lake.summaries("kept"))) == ([], 2)


def test_both_commits_of_a_batch_carry_its_mark(lake: Registry) -> None:
    lake.events((1, 1, "a"))
    lake.events((1, 2, "gone"), (2, 1, "a"))
    lake.run(lake.job(*lake.merged()))
    [deleted], merged = lake.summaries("kept_deleted"), lake.summaries("kept")[-1]
    assert (deleted[BATCH_ID], deleted[OUTPUT]) == ("1", "tombstones.kept")
    assert (merged[BATCH_ID], merged[OUTPUT]) == ("1", "kept")
    assert deleted[CHECKPOINT_ID] == merged[CHECKPOINT_ID]


def test_tombstones_take_further_columns_of_the_delete(lake: Registry) -> None:
    """Tombstones take columns that the table does not have, too: with a time of the delete old tombstones can
    expire.
    """
    kept = {**KEPT, "ts": "timestamptz", "reason": "string"}
    rule = {"on": ["id"], "latest_by": "at", "delete_if": "op = 'd'"}
    spec = lake.job(
        *lake.merged(merge=rule, kept=kept),
        sql="SELECT id, at, note, ts, CASE WHEN note = 'gone' THEN 'd' ELSE 'u' END AS op FROM raw",
    )
    assert lake.analyse(spec).findings == ()
    lake.events((1, 1, "a", 1), (2, 2, "a", 1))
    lake.events((1, 3, "gone", 2), (2, 1, "gone", 3))
    lake.run(spec)
    assert lake.rows("kept") == [(2, 2, "a")]
    found = [(row[0], row[1], row[2].hour, row[3]) for row in lake.rows("kept_deleted")]
    assert found == [(1, 3, 2, None), (2, 1, 3, None)]


def test_a_condition_on_the_row_of_the_table_is_refused(lake: Registry) -> None:
    rule = {**RULE, "delete_if": "s.note = 'gone' AND t.note IS NOT NULL"}
    spec = lake.job(*lake.merged(merge=rule))
    lake.events((1, 1, "a"))
    [finding] = lake.analyse(spec).findings
    assert (finding.step, finding.error_class) == ("outputs.tombstones.kept", "TOMBSTONES_INCOMPLETE")
    assert lake.failure(spec)[0] == "TOMBSTONES_INCOMPLETE"


def test_a_branch_keeps_its_own_tombstones(lake: Registry) -> None:
    outputs = lake.merged(branch="audit")
    for name in ("kept", "kept_deleted"):
        lake.spark.sql(f"ALTER TABLE {lake.name(name)} CREATE BRANCH audit")
    lake.events((1, 2, "gone"))
    lake.events((1, 1, "late"))
    lake.run(lake.job(*outputs))
    assert branch_rows(lake, "kept", "audit") == []
    assert branch_rows(lake, "kept_deleted", "audit") == [(1, 2)]
    assert (lake.rows("kept"), lake.rows("kept_deleted")) == ([], [])


def test_several_outputs_of_one_batch_keep_their_own_deletes(lake: Registry) -> None:
    steps = [
        {"name": "picked", "sql": "SELECT id, at, note FROM raw"},
        {"name": "even", "sql": "SELECT * FROM picked WHERE id % 2 = 0"},
        {"name": "odd", "sql": "SELECT * FROM picked WHERE id % 2 = 1"},
    ]
    outputs = [{**output, "from": name} for name in ("even", "odd") for output in lake.merged(name)]
    spec = lake.job(*outputs, steps=steps, foreach_batch=True)
    assert lake.analyse(spec).findings == ()
    lake.events((1, 2, "gone"), (2, 2, "gone"), (4, 1, "a"))
    lake.events((1, 1, "late"), (2, 1, "late"), (3, 1, "a"))
    lake.run(spec)
    assert (lake.rows("even"), lake.rows("odd")) == ([(4, 1, "a")], [(3, 1, "a")])
    assert (lake.rows("even_deleted"), lake.rows("odd_deleted")) == ([(2, 2)], [(1, 2)])


def test_a_run_of_a_batch_job_keeps_deletes(lake: Registry) -> None:
    lake.create("changes", KEYED)
    outputs = [{**output, "checkpoint": None} for output in lake.merged()]
    table = {"name": "raw", "kind": "table", "identifier": ["lake", lake.namespace, "changes"]}
    for number, values in enumerate(["(1, 2, 'gone'), (2, 1, 'a')", "(1, 1, 'late'), (3, 1, 'a')"]):
        lake.spark.sql(f"INSERT OVERWRITE {lake.name('changes')} VALUES {values}")
        spec = lake.job(*outputs, mode="batch", inputs=[table], run_id=f"run-{number}")
        assert lake.run(spec) is False
    assert lake.run(spec) is True
    assert lake.rows("kept") == [(2, 1, "a"), (3, 1, "a")]
    assert lake.rows("kept_deleted") == [(1, 2)]


def test_few_tombstones_cost_no_shuffle(lake: Registry) -> None:
    """Spark sends them to each executor. And of each key it drops all rows but one before it shuffles."""
    output, kept = job_spec_from_json(lake.job(*lake.merged())).table_outputs
    lake.spark.sql(f"INSERT INTO {lake.name('kept_deleted')} VALUES (1, 5)")
    lake.spark.sql("SELECT id % 3 AS id, id AS at, 'a' AS note FROM range(10)").repartition(
        3
    ).createOrReplaceTempView("rows")
    rows = merge_rows.NewRows(view="rows", columns=tuple(KEYED), orderable=tuple(KEYED))
    plain = merge_rows.statement(lake.spark, output, rows)
    ours = merge_rows.statement(lake.spark, output, rows, kept)
    assert shuffles(lake, ours) == shuffles(lake, plain)
    plans = [str(collected(lake.spark.sql(f"EXPLAIN {text}"))[0][0]) for text in (plain, ours)]
    assert plans[0].count("WindowGroupLimit [id") == plans[1].count("WindowGroupLimit [id") > 0


# The law: no result depends on how changes are cut into batches

_LOGS = 120
_BATCHES = 5


def test_any_cut_of_a_change_log_gives_the_rows_of_one_batch(lake: Registry) -> None:
    """Many logs at once, each with keys of its own: shuffled, cut at random places, with changes that are
    delivered again in later batches.
    """
    seed = random.randrange(2**32)
    chance = random.Random(seed)
    logs = [_log(chance, number) for number in range(_LOGS)]
    cut: list[list[Change]] = [[] for _ in range(_BATCHES)]
    for log in logs:
        for batch, changes in enumerate(_cut(chance, log)):
            cut[batch] += changes
    whole = [change for log in logs for change in log]
    expected = sorted(_expected(whole), key=repr)
    for changes in cut:
        lake.events(*changes)
    lake.run(lake.job(*lake.merged("parts")))
    assert lake.rows("parts") == expected, f"seed {seed}"
    for file in (lake.folder / "events").iterdir():
        file.unlink()
    lake.events(*whole)
    lake.run(lake.job(*lake.merged("whole")))
    assert lake.rows("whole") == expected, f"seed {seed}"


def _log(chance: random.Random, number: int) -> list[Change]:
    keys = [*range(number * 10, number * 10 + 3), None]
    return [
        (
            chance.choice(keys),
            chance.choice([None, *range(6)]),
            chance.choice(["a", "b", "zz", None, "gone", "gone"]),
        )
        for _ in range(chance.randrange(1, 12))
    ]


def _cut(chance: random.Random, log: Sequence[Change]) -> list[list[Change]]:
    found: list[list[Change]] = [[] for _ in range(_BATCHES)]
    for change in log:
        for _ in range(chance.choice([1, 1, 1, 2, 3])):
            found[chance.randrange(_BATCHES)].append(change)
    return found


def _expected(changes: Sequence[Change]) -> Iterator[Change]:
    """The greatest of each key: by its order, deletes before rows, then by its note; null is the least."""
    by_key: dict[int | None, list[Change]] = {}
    for change in changes:
        by_key.setdefault(change[0], []).append(change)
    for found in by_key.values():
        last = max(
            found,
            key=lambda change: (
                change[1] is not None,
                change[1] or 0,
                change[2] == "gone",
                change[2] is not None,
                change[2] or "",
            ),
        )
        if last[2] != "gone":
            yield last


# The same rows, wherever a batch breaks off


@pytest.mark.parametrize(
    ("point", "times"),
    [
        ("driver.before-output-write", 1),
        ("driver.in-merge", 1),
        ("driver.after-output-write", 1),
        ("driver.between-outputs", 2),
        ("driver.before-output-write", 4),
        ("driver.in-merge", 3),
        ("driver.after-output-write", 4),
        ("driver.before-commit-log", 2),
    ],
)
def test_a_batch_that_breaks_off_leaves_the_exact_rows(
    lake: Registry, interrupted: Any, point: str, times: int
) -> None:
    spec = lake.job(*lake.merged())
    lake.events((1, 1, "a"), (2, 1, "a"), (3, 3, "gone"))
    lake.events((1, 3, "gone"), (2, 2, "b"), (3, 2, "late"))
    lake.events((1, 2, "late"), (4, 1, "c"))
    interrupted(point, times)
    with pytest.raises(kill_points.Interrupted):
        lake.run(spec)
    lake.run(spec)
    lake.run(spec)
    assert lake.rows("kept") == [(2, 2, "b"), (4, 1, "c")]
    assert lake.rows("kept_deleted") == [(1, 3), (3, 3)]
    marks = [[item[BATCH_ID] for item in lake.summaries(name)] for name in ("kept", "kept_deleted")]
    assert marks == [["0", "1", "2"], ["0", "1"]]


# Values that a table returns in another spelling

SPELLINGS: dict[str, tuple[IcebergType, str, str]] = {
    "u": (UUIDType(), "'3F2504E0-4F89-11D3-9A0C-0305E82C3301'", "'3f2504e0-4f89-11D3-9a0c-0305e82c3301'"),
    "s": (
        StructType(NestedField(101, "a.b", UUIDType()), NestedField(102, "n", IntegerType())),
        "named_struct('a.b', 'AF2504E0-4F89-11D3-9A0C-0305E82C3301', 'n', 1)",
        "named_struct('a.b', 'af2504e0-4f89-11d3-9a0c-0305e82c3301', 'n', 1)",
    ),
    "l": (
        ListType(103, UUIDType(), element_required=False),
        "array('AF2504E0-4F89-11D3-9A0C-0305E82C3301', null)",
        "array('af2504e0-4f89-11d3-9a0c-0305e82c3301', null)",
    ),
    "d": (DecimalType(12, 4), "CAST(1.5 AS DECIMAL(4, 2))", "CAST(1.5 AS DECIMAL(12, 4))"),
    "f": (DoubleType(), "double('-0.0')", "double('0.0')"),
    "n": (FloatType(), "float('NaN')", "CAST(double('NaN') AS float)"),
    "t": (TimestamptzType(), "timestamp'2026-01-01T00:00:00Z'", "timestamp'2026-01-01T02:00:00+02:00'"),
    "z": (TimestampType(), "timestamp_ntz'2026-01-01 00:00:00'", "timestamp_ntz'2026-01-01 00:00:00.000000'"),
    "y": (DateType(), "date'2026-01-01'", "CAST(timestamp_ntz'2026-01-01 12:00:00' AS date)"),
    "b": (BinaryType(), "X'00ff'", "unhex('00FF')"),
    "x": (FixedType(2), "X'00ff'", "unhex('00FF')"),
    "i": (IntegerType(), "CAST(7 AS smallint)", "7"),
    "o": (BooleanType(), "true", "1 = 1"),
}
"""By column, its type, and one value in two spellings."""
NESTED = {"s": "struct<`a.b`: uuid, n: int>", "l": "list<uuid>"}


@pytest.mark.parametrize("required", [False, True])
def test_a_key_is_a_value_and_not_its_spelling(lake: Registry, required: bool) -> None:
    """Two spellings meet in the table, within a batch and in the tombstones."""
    fields = [
        NestedField(number, name, kind, required=required)
        for number, (name, (kind, *_)) in enumerate(SPELLINGS.items(), 1)
    ]
    for name in ("kept", "kept_deleted"):
        lake.catalog.create_table(
            f"{lake.namespace}.{name}", Schema(*fields, NestedField(50, "at", LongType()))
        )
    mark = "!" if required else ""
    columns = {name: f"{NESTED.get(name, kind)}{mark}" for name, (kind, *_) in SPELLINGS.items()}
    rule = {"on": list(SPELLINGS), "latest_by": "at", "delete_if": "s.op = 'gone'"}
    outputs = lake.merged(merge=rule, columns={**columns, "at": "long"}, kept={**columns, "at": "long"})
    made = ", ".join(f"if(id = 1, {one}, {other}) AS {name}" for name, (_, one, other) in SPELLINGS.items())
    spec = lake.job(*outputs, sql=f"SELECT {made}, at, note AS op FROM raw")
    lake.events((1, 1, "new"))
    lake.events((2, 2, "again"))
    lake.events((1, 4, "last"), (2, 3, "twice"))
    lake.run(spec)
    assert last(lake, "kept") == [(4,)]
    lake.events((2, 6, "gone"), (1, 5, "late"))
    lake.events((1, 6, "late"))
    lake.run(spec)
    assert last(lake, "kept") == []
    assert last(lake, "kept_deleted") == [(6,)]


def last(lake: Registry, table: str) -> list[tuple[Any, ...]]:
    return collected(lake.spark.table(lake.name(table)).select("at"))


def test_a_merge_takes_no_text_that_is_no_uuid(lake: Registry) -> None:
    lake.catalog.create_table(f"{lake.namespace}.kept", Schema(NestedField(1, "u", UUIDType())))
    output = lake.output("kept", {"u": "uuid"}, mode="merge", merge={"on": ["u"]})
    lake.events((1, 1, "1-1-1-1-1"))
    error_class, message = lake.failure(lake.job(output, sql="SELECT note AS u FROM raw"))
    assert (error_class, "1-1-1-1-1" in message) == ("MALFORMED_UUID", True)
    assert collected(lake.spark.table(lake.name("kept"))) == []
