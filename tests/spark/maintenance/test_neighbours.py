"""Whatever lies beside a table: what deletes files leaves every table that is alive as it was, or refuses."""

import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyiceberg.expressions import AlwaysTrue

from flareiac.sdk.actions import Revive
from flareiac.sdk.capabilities import Undroppable
from flareiac.sdk.maintenance import MeasureRequest, Measuring, TasksRequest
from flareiac.sdk.results import Applied, NotApplied, Present, Recorded
from flareiac.sdk.table_tasks import TaskRefusal
from flareiac_iceberg.maintenance.plan import TableMaintainer
from flareiac_iceberg_runtime.kinds.orphan_removal.perform import RemoveOrphans, remove_orphans
from flareiac_iceberg_runtime.kinds.snapshot_expiry.perform import ExpireSnapshots, expire_snapshots
from flareiac_spark_runtime.driver import tables
from flareiac_spark_runtime.driver.table_work import MaintainedTable
from tests.iceberg.lake import Lake
from tests.spark.maintained import now_ms
from tests.spark.maintenance.neighbour_worlds import SCHEMA, World
from tests.support.spark_session import FEW_ROWS, spark_session

pytestmark = [
    pytest.mark.jvm,
    # SQLAlchemy leaves some connections to the garbage collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore:Delete operation did not match any records:UserWarning"),
]

_CATALOG = "spark.sql.catalog.lake"
_TWO_DAYS = 2 * 86_400_000


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory, jars: tuple[Path, ...], java_home: Path) -> Iterator[Any]:
    with spark_session(FEW_ROWS, jars, java_home, tmp_path_factory.mktemp("spark")) as session:
        yield session


class Case:
    """One operation on the table of a world, by what the program really does."""

    def __init__(self, world: World, spark: Any) -> None:
        self.world, self.spark, self.lake = world, spark, world.lake

    def run(self) -> str:
        """The result: ``done``, or the reason of a refusal."""
        match self.world.operation:
            case "purge":
                return self._removed()
            case "drop":
                return self._dropped_and_back()
            case kind:
                return self._maintained(kind)

    def _removed(self) -> str:
        planned = self.lake.plan("table.t", None)
        if planned.blockers:
            return planned.blockers[0].code
        outcome = self.lake.carry_out("table.t", planned)
        return outcome.diagnostics[0].code if isinstance(outcome, NotApplied) else "done"

    def _dropped_and_back(self) -> str:
        outcome = self.lake.carry_out("table.t", self.lake.plan("table.t", None))
        assert isinstance(outcome, Applied)
        recorded = Recorded(attributes=outcome.attributes, identity=outcome.identity)
        driver = self.lake.session.driver("table")
        assert isinstance(driver, Undroppable)
        back = driver.revive(self.lake.asking("table.t", Revive(recorded=recorded, then={})))
        return back.diagnostics[0].code if isinstance(back, NotApplied) else "done"

    def _maintained(self, kind: str) -> str:
        task = next(each for each in self._tasks(self.lake) if each.name == kind)
        if task.diagnostics:
            return str(task.diagnostics[0].code)
        work = self.work()
        try:
            if kind == "orphan_removal":
                done = remove_orphans(work, RemoveOrphans(older_than_ms=now_ms() - _TWO_DAYS))
            else:
                done = expire_snapshots(work, ExpireSnapshots(older_than_ms=now_ms() + 1, retain_last=1))
        except TaskRefusal as refusal:
            return refusal.error_class
        count = done.result.get("orphans", done.result.get("expired_snapshots"))
        return "done" if count else "nothing"

    def _tasks(self, lake: Lake) -> Any:
        attributes = lake.canonical("table", "t", self.world.body())
        there = lake.read("table.t", attributes)
        assert isinstance(there, Present), there
        driver = lake.session.driver("table")
        assert isinstance(driver, Measuring)
        asked = MeasureRequest(
            address="table.t",
            attributes=attributes,
            identity=there.identity,
            references=lake.references,
            declared=lake.references,
        )
        request = TasksRequest(
            address="table.t",
            attributes=attributes,
            identity={},
            figures=driver.measure(asked),
            references=lake.references,
            now_ms=now_ms(),
        )
        return TableMaintainer().tasks(request)

    def work(self) -> MaintainedTable:
        session = self.spark.newSession()
        settings = {
            "": "org.apache.iceberg.spark.SparkCatalog",
            ".type": "jdbc",
            ".uri": f"jdbc:sqlite:{self.lake.database}",
            ".jdbc.schema-version": "V1",
            ".warehouse": f"file://{self.world.root}/lake",
            ".cache-enabled": "false",
        }
        for name, value in settings.items():
            session.conf.set(f"{_CATALOG}{name}", value)
        # Catalogs are made of the settings of the session that is active in the thread.
        session._jvm.org.apache.spark.sql.classic.SparkSession.setActiveSession(session._jsparkSession)
        own = ("lake", "n", "t")
        return MaintainedTable(
            session=session, identifier=own, table=tables.load(session, own, None), key="k"
        )


def one(seed: int, root: Path, spark: Any) -> str:
    """Plays a case; fails where anything is lost."""
    root.mkdir()
    world = World(root, seed)
    try:
        world.build()
        before = world.alive()
        outcome = Case(world, spark).run()
        purged = world.operation == "purge" and outcome == "done"
        # Where another entry of it stands in the way, its files stay, and a person chooses.
        unentered = world.operation == "drop" and outcome != "done"
        lost = world.lost(before, but="n.t" if purged or world.operation == "snapshot_expiry" else "")
        after = world.alive()
        gone = before.keys() - after.keys() - ({("lake", "n.t")} if purged or unentered else set())
        broken = [path for files in after.values() for path, content in files.items() if content == "gone"]
        wrong = [*lost, *map(str, gone), *broken]
        assert not wrong, (seed, world.operation, outcome, world.log, wrong)
        return f"{world.operation}: {outcome}"
    finally:
        world.close()
        shutil.rmtree(root)


@pytest.fixture
def expiring(spark: Any, tmp_path: Path) -> Iterator[tuple[World, MaintainedTable]]:
    """A table of which an expiry takes two snapshots and one data file."""
    world = World(tmp_path, 1, "snapshot_expiry")
    world.home = tmp_path / "lake" / "n" / "t"
    world.catalogs["lake"].create_table("n.t", SCHEMA, location=str(world.home))
    world.append_here()
    world.table().delete(AlwaysTrue())
    world.append_here()
    yield world, Case(world, spark).work()
    world.close()


def expiry_as_forecast(
    work: MaintainedTable, snapshots: int, data_files: int | None = None, delete_files: int | None = None
) -> ExpireSnapshots:
    return ExpireSnapshots(
        older_than_ms=now_ms() + 1,
        retain_last=1,
        snapshot=int(work.table.currentSnapshot().snapshotId()),
        of_snapshots=3,
        forecast=snapshots,
        forecast_data_files=data_files,
        forecast_delete_files=delete_files,
    )


def test_an_expiry_that_takes_more_snapshots_than_forecast_stops_before_it(
    expiring: tuple[World, MaintainedTable],
) -> None:
    world, work = expiring
    before, there = world.alive(), list(world.table().metadata.snapshots)
    with pytest.raises(TaskRefusal, match=r"2 snapshots would go, and the forecast .* is 1"):
        expire_snapshots(work, expiry_as_forecast(work, 1))
    assert world.table().metadata.snapshots == there
    assert not world.lost(before)


@pytest.mark.parametrize(
    ("forecast", "snapshots", "lost"),
    [
        ((2, 0), 3, "1 data files would go, and the forecast"),
        # Another commit came: no number of the forecast counts.
        ((1, 0), 4, ""),
        ((2, 1, 0), 3, ""),
    ],
)
def test_an_expiry_that_deletes_more_files_than_forecast_stops_before_the_first(
    expiring: tuple[World, MaintainedTable], forecast: tuple[int, ...], snapshots: int, lost: str
) -> None:
    world, work = expiring
    before, task = world.alive(), expiry_as_forecast(work, *forecast)
    if snapshots > 3:
        world.append_here()
        work.table.refresh()
    if lost:
        with pytest.raises(TaskRefusal, match=lost):
            expire_snapshots(work, task)
        files = [path for paths in before.values() for path in paths if not path.endswith(".json")]
        assert not [path for path in world.lost(before) if path.partition(": ")[2] in files]
    else:
        assert expire_snapshots(work, task).result["deleted_data_files"] == 1


def test_an_expiry_deletes_no_file_that_is_alive_under_another_spelling(
    expiring: tuple[World, MaintainedTable],
) -> None:
    world, work = expiring
    (file,) = (task.file.file_path for task in world.table().scan().plan_files())
    (world.root / "link").symlink_to(world.root / "lake")
    world.table().delete(AlwaysTrue())
    world.table().add_files([file.replace("/lake/", "/link/").removeprefix("file://")])
    rows = world.table().scan().to_arrow()
    work.table.refresh()
    with pytest.raises(TaskRefusal, match="The same place is written in two ways"):
        expire_snapshots(work, ExpireSnapshots(older_than_ms=now_ms() + 1, retain_last=1))
    assert world.table().scan().to_arrow() == rows


def play(seeds: range, root: Path, spark: Any) -> Counter[str]:
    return Counter(one(seed, root / f"w{seed}", spark) for seed in seeds)


def test_a_sample_of_neighbours_loses_nothing(spark: Any, tmp_path: Path) -> None:
    outcomes = play(range(2_000, 2_012), tmp_path, spark)
    assert sum(outcomes.values()) == 12


@pytest.mark.slow
@pytest.mark.parametrize("block", range(100))
def test_two_thousand_neighbours_lose_nothing(spark: Any, tmp_path: Path, block: int) -> None:
    outcomes = play(range(block * 20, block * 20 + 20), tmp_path, spark)
    print(sorted(outcomes.items()))
    assert any(what.endswith(": done") for what in outcomes)
