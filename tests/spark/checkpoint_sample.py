"""Checkpoints written by hand as Spark 4.1 writes them."""

import json
from pathlib import Path

QUERY = "6116a383-3254-46b6-be89-609df4e7c277"
PINNED = {"spark.sql.shuffle.partitions": "2"}
SNAPSHOT = 3360990337808318956


def files(reached: int) -> str:
    return json.dumps({"logOffset": reached})


def table(position: int) -> str:
    return json.dumps({"version": 1, "snapshot_id": SNAPSHOT, "position": position, "scan_all_files": False})


def sample(
    folder: Path,
    sources: tuple[str, ...] = ("files",),
    *,
    started: int = 3,
    committed: int = 3,
    operator: str | None = None,
) -> Path:
    """A checkpoint of a query over these kinds of sources; batch N of files is entry N of their log."""
    for part in ("offsets", "commits"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    (folder / "metadata").write_text(json.dumps({"id": QUERY}))
    for batch in range(started + 1):
        header = {
            "batchWatermarkMs": batch * 1000,
            "batchTimestampMs": 1_700_000_000_000 + batch,
            "conf": PINNED,
        }
        positions = [
            files(batch) if kind == "files" else table(batch) if kind == "table" else str(batch)
            for kind in sources
        ]
        (folder / "offsets" / str(batch)).write_text("\n".join(["v1", json.dumps(header), *positions]))
        (folder / "offsets" / f".{batch}.crc").write_bytes(b"crc")
        for index, kind in enumerate(sources):
            log = folder / "sources" / str(index)
            log.mkdir(parents=True, exist_ok=True)
            if kind == "files":
                (log / str(batch)).write_text(f"v1\n{json.dumps(seen(batch))}")
    for index, kind in enumerate(sources):
        if kind == "table":
            (folder / "sources" / str(index) / "offsets").mkdir(parents=True, exist_ok=True)
            (folder / "sources" / str(index) / "offsets" / "0").write_text(table(0))
    for batch in range(committed + 1):
        (folder / "commits" / str(batch)).write_text('v1\n{"nextBatchWatermarkMs":0}')
    if operator is not None:
        place = folder / "state" / "0" / "_metadata"
        place.mkdir(parents=True)
        info = {"operatorId": 0, "operatorName": operator}
        store = [{"storeName": "default", "numColsPrefixKey": 0, "numPartitions": 2}]
        (place / "metadata").write_text("v1\n" + json.dumps({"operatorInfo": info, "stateStoreInfo": store}))
        changes(folder, committed)
    return folder


def changes(folder: Path, committed: int) -> None:
    """The change files of both partitions of the one stateful operator, as an HDFS-backed store writes them:
    one more than batches.
    """
    for partition in ("0", "1"):
        store = folder / "state" / "0" / partition
        store.mkdir(parents=True, exist_ok=True)
        for version in range(1, committed + 2):
            (store / f"{version}.delta").write_bytes(b"LZ4Block")
            (store / f".{version}.delta.crc").write_bytes(b"crc")


def seen(batch: int) -> dict[str, object]:
    return {
        "path": f"file:///data/in/day={batch}/a%20b.json",
        "timestamp": 1_700_000_000_000 + batch,
        "batchId": batch,
    }


def compact(log: Path, batch: int) -> None:
    """Folds a file source's log up to an entry, as Spark does every tenth time, and later deletes what it
    folded.
    """
    lines = [json.dumps(seen(number)) for number in range(batch + 1)]
    (log / f"{batch}.compact").write_text("\n".join(["v1", *lines]))
    for number in range(batch + 1):
        (log / str(number)).unlink(missing_ok=True)
