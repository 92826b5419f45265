"""The text of ``checkpoint show`` for a person and for a program."""

import json
from dataclasses import replace

from flareiac.kernel.records import decode, encode
from flareiac.sdk.run_status import RunStatus
from flareiac_spark.checkpoint.description import DescribedCheckpoint
from flareiac_spark.checkpoint.text import checkpoint_json, checkpoint_text

NOW = 1_700_000_100.0


def inside() -> DescribedCheckpoint:
    query = {
        "output": "rides",
        "number": 2,
        "query_id": "q-2",
        "started": 13,
        "committed": 12,
        "in_flight": 13,
        "watermark_ms": 1_700_000_000_000,
        "last_batches": [
            {"batch": 12, "begun_ms": 1_700_000_000_000, "committed": True},
            {"batch": 13, "begun_ms": None, "committed": False},
        ],
        "sources": [{"index": 0, "kind": "table", "offset": "{}", "text": "up to file 3 of snapshot 77"}],
        "operators": [{"id": 0, "name": "stateStoreSave", "partitions": 4}],
        "pinned": {"spark.sql.shuffle.partitions": "4"},
    }
    folders = [
        {
            "number": 1,
            "in_use": False,
            "removable": True,
            "standing": "used",
            "bytes": 1_500_000,
            "damage": None,
            "began": None,
        },
        {
            "number": 2,
            "in_use": True,
            "removable": False,
            "standing": "used",
            "bytes": 900,
            "damage": None,
            "began": {"start_from": "carry_over", "query_id": "q-1", "batch": 9},
        },
        {
            "number": 3,
            "in_use": False,
            "removable": False,
            "standing": "prepared",
            "bytes": 0,
            "damage": None,
            "began": None,
        },
        {
            "number": 4,
            "in_use": False,
            "removable": False,
            "standing": "used",
            "bytes": 5,
            "damage": "offsets/3: it is empty",
            "began": None,
        },
    ]
    described = {
        "location": "/data/x",
        "generation": 2,
        "keep_generations": 1,
        "queries": [query],
        "generations": [{"output": "rides", "folder": "f", **item} for item in folders],
    }
    return decode(DescribedCheckpoint, described, complete=True)


def test_a_person_reads_what_was_read_and_what_is_open() -> None:
    lines = checkpoint_text(
        "checkpoint.x", inside(), {"job.x": RunStatus(phase="idle")}, now=NOW
    ).splitlines()
    assert lines == [
        "checkpoint.x: /data/x",
        "generation 2 is in use",
        "job.x is idle, lag unknown",
        "",
        "Output rides: query q-2",
        "  batch 12 is the last one committed",
        "  batch 13 was begun and is not committed: the next start does it again, with the same offsets",
        "    batch     12  begun 2023-11-14 22:13:20 UTC (1m40s ago)  committed",
        "    batch     13  begun at an unknown time  not committed",
        "  source 0 (table): up to file 3 of snapshot 77",
        "  watermark: 2023-11-14 22:13:20 UTC",
        "  state 0: stateStoreSave in 4 partitions",
        "  pinned settings (a new generation takes others):",
        "    spark.sql.shuffle.partitions = 4",
        "",
        "Generations:",
        "  1 of output rides: can be removed: flareiac checkpoint gc, 1.5 MB",
        "  2 of output rides: in use, 900 bytes",
        "    began with start_from = carry_over after batch 9 of query q-1",
        "  3 of output rides: prepared, no query has begun in it, 0 bytes",
        "  4 of output rides: kept, 5 bytes",
        "    damaged: offsets/3: it is empty",
    ]


def test_an_unused_checkpoint_says_so() -> None:
    empty = replace(inside(), queries=(), generations=())
    text = checkpoint_text("checkpoint.x", empty, {}, now=NOW)
    assert "no recorded job uses it" in text
    assert "no query has run in this generation" in text
    assert "none on disk" in text


def test_a_job_that_uses_it_is_shown_with_its_lag() -> None:
    jobs = {"job.x": RunStatus(phase="running", lag="behind, 3 files")}
    text = checkpoint_text("checkpoint.x", inside(), jobs, now=NOW)
    assert 'job.x is running, lag "behind, 3 files"' in text


def test_a_program_reads_everything() -> None:
    idle = RunStatus(phase="idle")
    found = json.loads(json.dumps(checkpoint_json("checkpoint.x", inside(), {"job.x": idle})))
    assert (found["format_version"], found["address"], found["jobs"]) == (
        "1.0",
        "checkpoint.x",
        {"job.x": encode(idle)},
    )
    assert found["queries"][0]["sources"][0]["offset"] == "{}"
