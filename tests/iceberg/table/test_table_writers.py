"""The writers of a table: read from the summaries of its snapshots, compact, and with the commits since the
last apply as news.
"""

from typing import Any

from flareiac.sdk.changes import Action, Relation, Usage
from flareiac.sdk.lakehouse import ForeignCommits, QueryCommits, TableWriters, UndoneBatches
from flareiac.sdk.results import Present
from flareiac_iceberg.format.recent_writers import LOOKED_AT, since, unacknowledged, writers
from tests.iceberg.lake import Lake, columns


def metadata(*summaries: dict[str, str], first_parent: int | None = None) -> dict[str, Any]:
    """One snapshot for each summary, one second apart."""
    snapshots = [
        {
            "snapshot-id": number,
            "parent-snapshot-id": number - 1 if number > 1 else first_parent,
            "timestamp-ms": number * 1000,
            "summary": {"operation": "append", **summary},
        }
        for number, summary in enumerate(summaries, start=1)
    ]
    return {"current-snapshot-id": len(snapshots) or None, "snapshots": snapshots}


def epoch(query: str, number: int) -> dict[str, str]:
    return {
        "spark.sql.streaming.queryId": query,
        "spark.sql.streaming.epochId": str(number),
        "spark.app.id": "app-1",
    }


def marked(query: str, output: str, number: int) -> dict[str, str]:
    return {"flareiac.checkpoint-id": query, "flareiac.output": output, "flareiac.batch-id": str(number)}


def test_an_empty_table_has_no_writers() -> None:
    assert writers(metadata()) == TableWriters()


def test_batches_that_a_rollback_took_away_are_counted() -> None:
    table = metadata(
        epoch("q-1", 0),
        epoch("q-1", 1),
        marked("q-2", "hourly", 3),
        epoch("q-1", 2),
        {"wap.id": "w", **epoch("q-1", 9)},
    )
    for item in table["snapshots"]:
        item["summary"]["added-records"] = "5"
    assert writers({**table, "current-snapshot-id": 4}).undone == {}
    assert writers({**table, "current-snapshot-id": 1}).undone == {
        "q-1": UndoneBatches(first=1, last=2, rows=10),
        "q-2": UndoneBatches(first=3, last=3, rows=5),
    }
    kept = {"refs": {"main": {"snapshot-id": 1}, "before": {"snapshot-id": 3}}}
    assert writers({**table, **kept, "current-snapshot-id": 1}).undone == {
        "q-1": UndoneBatches(first=2, last=2, rows=5)
    }


def test_a_batch_that_was_written_again_after_a_rollback_is_not_missing() -> None:
    table = metadata(epoch("q-1", 0), epoch("q-1", 1), epoch("q-1", 1))
    table["snapshots"][2]["parent-snapshot-id"] = 1
    assert writers(table).undone == {}


def test_each_kind_of_writer_is_told_apart() -> None:
    found = writers(
        metadata(
            epoch("q-1", 0),
            {"engine-name": "spark", "app-id": "local-7"},
            epoch("q-1", 1),
            marked("q-2", "hourly", 4),
            marked("q-2", "daily", 4),
            {"flareiac.run-id": "r-1"},
            {"flareiac.rebuild": "q-0/g0002", "operation": "delete"},
            {"engine-name": "spark", "app-id": "local-7"},
        )
    )
    assert found.queries == {
        "q-1": QueryCommits(epoch=1, at=3000, outputs={}),
        "q-2": QueryCommits(epoch=4, at=5000, outputs={"daily": 4, "hourly": 4}),
    }
    assert found.runs == {"r-1": 6000}
    assert found.others == (
        ForeignCommits(engine="spark", app="local-7", operation="append", count=2, at=8000, snapshot_id=8),
    )
    assert found.at == 8000


def test_only_the_newest_snapshots_are_looked_at() -> None:
    found = writers(metadata(*(epoch("q-1", number) for number in range(LOOKED_AT + 1))))
    assert found.complete is False
    assert found.queries["q-1"].epoch == LOOKED_AT


def test_expired_history_is_not_called_complete() -> None:
    assert writers(metadata(epoch("q-1", 9), first_parent=77)).complete is False


def test_what_is_later_than_the_recorded_snapshot_is_news() -> None:
    recorded = writers(metadata(epoch("q-1", 0)))
    found = since(writers(metadata(epoch("q-1", 0), epoch("q-1", 1))), recorded)
    assert (found.since, found.at) == (1000, 2000)
    assert since(recorded, recorded).since == 1000
    assert since(found, None).since == 2000


def test_a_row_written_by_another_program_is_seen_by_the_next_read_and_is_no_news_once_recorded(
    lake: Lake,
) -> None:
    body = {"namespace": "demo", "column": columns(id="long")}
    lake.apply("table.orders", body)
    lake.append("demo.orders", [{"id": 1}])
    observed = lake.read("table.orders", lake.state["table.orders"].attributes)
    assert isinstance(observed, Present)
    who = observed.identity["writers"]
    assert [item["operation"] for item in who["others"]] == ["append"]
    assert who["since"] is None
    assert who["at"] == who["others"][0]["at"]

    lake.apply("table.orders", {**body, "comment": "orders"})
    again = lake.read("table.orders", lake.state["table.orders"].attributes)
    assert isinstance(again, Present)
    assert again.identity["writers"]["since"] == who["at"]


WRITER = Usage(subject="table.orders", holder="job.orders", relation=Relation.WRITES, reason="output orders")


def test_a_stranger_beside_a_declared_writer_is_acknowledged_by_an_apply(lake: Lake) -> None:
    body = {"namespace": "demo", "column": columns(id="long")}
    lake.apply("table.orders", body)
    lake.append("demo.orders", [{"id": 1}])
    assert lake.plan("table.orders", body).action is Action.NO_OP
    assert lake.plan("table.orders", body, usages=(WRITER,)).action is Action.RECORD


def test_a_second_query_beside_the_declared_one_is_a_stranger() -> None:
    empty = writers(metadata())
    own = since(writers(metadata(epoch("q-1", 0))), empty)
    both = since(writers(metadata(epoch("q-1", 0), epoch("q-2", 0))), own)
    assert not unacknowledged(own, empty, (), 1)
    assert unacknowledged(both, own, (), 1)
    assert not unacknowledged(own, own, (), 1)


def test_the_queries_that_declared_writers_run_and_have_run_are_no_strangers() -> None:
    """A new generation of a job writes as another query; a job with two outputs of one table as two."""
    before = writers(metadata(epoch("q-1", 0)))
    after = since(writers(metadata(epoch("q-1", 0), epoch("q-2", 0))), before)
    assert not unacknowledged(after, before, ("q-2", "q-1"), 0)
    assert not unacknowledged(after, before, ("q-2",), 0)
    assert unacknowledged(after, before, ("q-1",), 0)
    assert unacknowledged(after, before, ("q-3",), 0)


def test_compaction_is_no_stranger() -> None:
    empty = writers(metadata())
    assert not unacknowledged(since(writers(metadata({"operation": "replace"})), empty), empty, (), 1)
