"""Every record of a streamed folder is in the table once, or kept as a bad record, whatever its file is
called, wherever it lies and however old it is.
"""

import gzip
import itertools
import os
import random
import time
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from flareiac_spark_runtime.control import FilesInput, StreamInput, TableOutput
from flareiac_spark_runtime.driver import bad_records
from flareiac_spark_runtime.driver.inputs import explained, open_input, open_marked
from flareiac_spark_runtime.driver.refusal import Refusal
from flareiac_spark_runtime.driver.root_cause import root_cause_of
from flareiac_spark_runtime.driver.spark_session import new_session
from flareiac_spark_runtime.sources.bad_records import HEADER_WAY
from flareiac_spark_runtime.sources.files.resolved import ResolvedFiles
from flareiac_spark_runtime.sources.resolved import SpecColumn
from tests.support.driver_application import driver_application
from tests.support.streamed_files import COLUMNS, Landing, flat

pytestmark = [
    pytest.mark.jvm,
    # Spark's own sockets of what is collected
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]

FORMATS = ("json", "json", "csv", "csv", "parquet", "text")
_FILES = 50
_NUMBERS = itertools.count()
_QUARANTINE = TableOutput(
    name="bad",
    source="s",
    identifier=("lake", "bad"),
    mode="append",
    columns=(SpecColumn(name="file", type="string"),),
)
_SAMPLE = 2
"""Folders of each format in the normal run; each has ``_FILES`` files."""


@pytest.fixture(scope="module")
def application(
    tmp_path_factory: pytest.TempPathFactory, jars: tuple[Path, ...], java_home: Path
) -> Iterator[Any]:
    conf = {"spark.sql.shuffle.partitions": "1", "spark.sql.files.openCostInBytes": "64m"}
    with driver_application(conf, jars, java_home, tmp_path_factory.mktemp("application")) as session:
        yield session


def _columns(file_format: str) -> tuple[SpecColumn, ...]:
    return tuple(
        SpecColumn(name=name, type=kind.removesuffix("!"), required=kind.endswith("!"))
        for name, kind in COLUMNS[file_format].items()
    )


def _stream(folder: Path, file_format: str, *, bad_records: str = "", **more: Any) -> StreamInput:
    source = ResolvedFiles(
        path=str(folder), format=file_format, columns=_columns(file_format), reading=2, **more
    )
    return StreamInput(name="s", source=source, bad_records=bad_records)


def _read(frame: Any, checkpoint: Path) -> list[tuple[Any, ...]]:
    """The rows of everything that is there and was not read yet."""
    written = checkpoint.with_name(f"{checkpoint.name}-{next(_NUMBERS)}")
    writer = frame.writeStream.format("parquet").option("checkpointLocation", str(checkpoint))
    query = writer.option("path", str(written)).trigger(availableNow=True).start()
    query.awaitTermination()
    found = [pq.read_table(file).to_pylist() for file in written.rglob("*.parquet")]
    return [tuple(map(flat, row.values())) for rows in found for row in rows]


def _each_record_once(application: Any, folder: Path, file_format: str, seed: int, files: int) -> None:
    chance = random.Random(seed)
    # A seed of its own: the files of a seed stay what they were
    name = random.Random(seed).choice(("landing", "a[1]", "{b}/c?*", "x [y]\\z"))
    landing = Landing(folder / name, file_format, chance, time.time())
    limit = chance.choice((None, None, 7))
    has_records = file_format in ("json", "csv")
    item = _stream(
        landing.folder,
        file_format,
        bad_records="quarantine" if has_records else "",
        options=landing.options,
        max_files_per_trigger=limit,
    )
    rows, bad = Counter[tuple[Any, ...]](), Counter[str]()
    for part in (files - files // 3, files // 3):
        landing.land(part)
        rows.update(_read(open_input(new_session(application), item, {}), folder / "rows"))
        if has_records:
            marked = open_marked(new_session(application), item, {})
            kept = _read(bad_records.bad_rows(marked, item, _QUARANTINE, "job.x"), folder / "bad")
            bad.update(unquote(file.removeprefix("file://").removeprefix("file:")) for (file,) in kept)
    assert (rows - landing.expected.rows, landing.expected.rows - rows) == (Counter(), Counter()), seed
    assert bad == landing.expected.bad, seed


@pytest.mark.parametrize("number", range(_SAMPLE))
@pytest.mark.parametrize("file_format", ["json", "csv"])
def test_each_record_is_read_once_or_kept_as_bad(
    application: Any, tmp_path: Path, file_format: str, number: int
) -> None:
    _each_record_once(application, tmp_path, file_format, number, _FILES)


@pytest.mark.parametrize("file_format", ["parquet", "text"])
def test_each_row_is_read_once(application: Any, tmp_path: Path, file_format: str) -> None:
    _each_record_once(application, tmp_path, file_format, 0, _FILES)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1040))
def test_two_thousand_files(application: Any, tmp_path: Path, seed: int) -> None:
    _each_record_once(application, tmp_path, FORMATS[seed % len(FORMATS)], seed, _FILES)


def _failure(application: Any, item: StreamInput, folder: Path) -> tuple[str, str, bool]:
    session = new_session(application)
    with pytest.raises(Exception) as caught:  # noqa: PT011 - whatever it is, its root cause is compared
        _read(open_input(session, item, {}), folder / "checkpoint")
    cause = root_cause_of(caught.value)
    return cause.error_class, explained(session, [item], cause.message, ()), cause.permanent


def _landed(folder: Path, name: str, content: bytes) -> Path:
    (folder / "landing").mkdir(exist_ok=True)
    (folder / "landing" / name).write_bytes(content)
    return folder / "landing"


def test_a_line_of_text_that_is_not_utf8_ends_the_job(application: Any, tmp_path: Path) -> None:
    folder = _landed(tmp_path, "a.txt", "ok\nGröße\n".encode("latin-1"))
    error_class, message, _permanent = _failure(application, _stream(folder, "text"), tmp_path)
    assert error_class == "TEXT_NOT_UTF8"
    assert "a.txt is not text in UTF-8" in message


def _parquet(
    folder: Path,
    declared: dict[str, str],
    columns: dict[str, pa.Array],
    *,
    dictionary: bool = False,
    **how: Any,
) -> StreamInput:
    """A stream of one file with these columns."""
    (folder / "landing").mkdir()
    file = folder / "landing" / "a.parquet"
    pq.write_table(pa.table(columns), file, use_dictionary=dictionary, **how)
    types = tuple(SpecColumn(name=name, type=kind, required=False) for name, kind in declared.items())
    source = ResolvedFiles(path=str(file.parent), format="parquet", columns=types, reading=2)
    return StreamInput(name="s", source=source, bad_records="")


def _batch(item: StreamInput) -> FilesInput:
    """The same folder as an input of a batch."""
    assert isinstance(item.source, ResolvedFiles)
    return FilesInput(
        name="s", path=item.source.path, format="parquet", options={}, columns=item.source.columns
    )


UNSIGNED = {"v": "long", "n": "int", "l": "list<int>", "s": "struct<a: long>", "d": "decimal(20,0)"}


def _unsigned(v: int, n: int) -> dict[str, pa.Array]:
    return {
        "v": pa.array([v], pa.uint64()),
        "n": pa.array([n], pa.uint32()),
        "l": pa.array([[n]], pa.list_(pa.uint32())),
        "s": pa.array([{"a": v}], pa.struct([("a", pa.uint64())])),
        "d": pa.array([2**64 - 1], pa.uint64()),
    }


@pytest.mark.parametrize("dictionary", [True, False])
def test_unsigned_numbers_that_fit_are_read(application: Any, tmp_path: Path, dictionary: bool) -> None:
    item = _parquet(tmp_path, UNSIGNED, _unsigned(7, 2**31 - 1), dictionary=dictionary)
    (row,) = _read(open_input(new_session(application), item, {}), tmp_path / "c")
    assert [str(value) for value in row[:2]] == ["7", str(2**31 - 1)]
    assert str(row[4]) == str(2**64 - 1)


@pytest.mark.parametrize("name", ["v", "n", "l", "s"])
def test_unsigned_numbers_never_become_negative(application: Any, tmp_path: Path, name: str) -> None:
    item = _parquet(tmp_path, {name: UNSIGNED[name]}, {name: _unsigned(2**64 - 1, 2**32 - 1)[name]})
    kind, message, _permanent = _failure(application, item, tmp_path)
    whole = name in ("v", "n")
    assert kind == ("NUMBER_NOT_HELD" if whole else "CAST_OVERFLOW")
    assert not whole or f"the column {name} of the file" in message
    with pytest.raises(Exception, match=kind):
        open_input(new_session(application), _batch(item), {}).collect()


@pytest.mark.parametrize(
    ("declared", "digits", "said"),
    [
        ("long", 10, "holds 12.34, which long does not hold. Declare it as decimal(22,2)"),
        ("int", 6, "holds 12.34, which int does not hold. Declare it as decimal(12,2)"),
        ("struct<a: long>", 10, "hold v.a as decimal(10,2)"),
    ],
)
def test_decimals_never_lose_their_point(
    application: Any, tmp_path: Path, declared: str, digits: int, said: str
) -> None:
    held: pa.Array = pa.array([Decimal("12.34")], pa.decimal128(digits, 2))
    if declared.startswith("struct"):
        held = pa.StructArray.from_arrays([held], ["a"])
    item = _parquet(tmp_path, {"v": declared}, {"v": held}, store_decimal_as_integer=True)
    kind, message, permanent = _failure(application, item, tmp_path)
    nested = declared.startswith("struct")
    assert (kind, permanent) == ("FILE_WITH_OTHER_NUMBERS" if nested else "NUMBER_NOT_HELD", nested)
    assert said in message
    with pytest.raises(Refusal if nested else Exception, match="hold"):
        open_input(new_session(application), _batch(item), {}).collect()


def test_whole_numbers_beside_older_files_of_decimals_are_read(application: Any, tmp_path: Path) -> None:
    item = _parquet(
        tmp_path,
        {"v": "long"},
        {"v": pa.array([Decimal("12.00")], pa.decimal128(10, 2))},
        store_decimal_as_integer=True,
    )
    pq.write_table(
        pa.table({"v": pa.array([-(2**63), 7, None], pa.int64())}), tmp_path / "landing" / "b.parquet"
    )
    rows = _read(open_input(new_session(application), item, {}), tmp_path / "c")
    assert Counter(str(value) for (value,) in rows) == Counter(["12", str(-(2**63)), "7", "None"])


def test_bytes_that_are_no_text_end_the_job(application: Any, tmp_path: Path) -> None:
    item = _parquet(tmp_path, {"v": "string"}, {"v": pa.array([b"\xff\xfe"], pa.binary())})
    kind, message, _permanent = _failure(application, item, tmp_path)
    assert kind == "TEXT_NOT_UTF8"
    assert "the column v of the file" in message
    assert "Declare it as binary" in message


@pytest.mark.parametrize(
    ("header", "said"),
    [("name,id,amount,note", "Header: name, id, amount, note"), ("id,name", "Header length: 2")],
)
def test_a_header_line_that_does_not_name_the_columns_is_refused(
    application: Any, tmp_path: Path, header: str, said: str
) -> None:
    folder = _landed(tmp_path, "a.csv", f"{header}\n1,Ada,2,x\n".encode())
    _kind, message, permanent = _failure(
        application, _stream(folder, "csv", options={"header": "true"}), tmp_path
    )
    assert said in message
    assert "correct the file, or the order of the columns" in message
    assert permanent


def test_a_header_line_without_the_option_names_the_option(application: Any, tmp_path: Path) -> None:
    folder = _landed(tmp_path, "a [1].csv", b"id,name,amount,note\n1,Ada,2,x\n")
    kind, message, _permanent = _failure(application, _stream(folder, "csv"), tmp_path)
    assert kind == "BAD_RECORD"
    assert HEADER_WAY in message
    assert 'options = { header = "true" }' in HEADER_WAY
    assert "the field id does not fit the type long" in message


@pytest.mark.parametrize(
    ("name", "content", "said", "for_good"),
    [
        ("a.json.gz", gzip.compress(b'{"id": 1}\n' * 1000, mtime=0)[:-12], "cut off", False),
        ("x:y.json", b'{"id": 1}\n', "colon", True),
        ("b.json.gz", b"no gzip at all", "b.json.gz", False),
    ],
    ids=["cut gzip", "colon", "no gzip"],
)
def test_a_file_that_cannot_be_opened_is_named_with_the_cause(
    application: Any, tmp_path: Path, name: str, content: bytes, said: str, for_good: bool
) -> None:
    folder = _landed(tmp_path, name, content)
    _kind, message, permanent = _failure(application, _stream(folder, "json"), tmp_path)
    assert name in message
    assert said in message
    assert permanent is for_good


def test_the_folder_of_a_sink_is_read_when_the_job_says_how(application: Any, tmp_path: Path) -> None:
    folder = _landed(tmp_path, "a.json", b'{"id": 1}\n')
    (folder / "_spark_metadata").mkdir()
    (folder / "_spark_metadata" / "0").write_text("v1\n")
    item = _stream(folder, "json")
    kind, message, permanent = _failure(application, item, tmp_path)
    assert (kind, permanent) == ("FOLDER_OF_A_SINK", True)
    assert "ignoreMetadata" in message
    session = new_session(application)
    session.conf.set("spark.sql.streaming.fileStreamSink.ignoreMetadata", "true")
    assert [row[0] for row in _read(open_input(session, item, {}), tmp_path / "c")] == [1]


def test_files_of_an_age_are_left_out_where_that_is_written(application: Any, tmp_path: Path) -> None:
    folder = _landed(tmp_path, "new.txt", b"new\n")
    item = _stream(folder, "text", max_file_age_ms=86_400_000)
    read = [_read(open_input(new_session(application), item, {}), tmp_path / "c")]
    week = time.time() - 10 * 86_400
    for name, moment in (("old.txt", week), ("newer.txt", None)):
        _landed(tmp_path, f".{name}", name.encode())
        staged = folder / f".{name}"
        os.utime(staged, None if moment is None else (moment, moment))
        staged.rename(folder / name)
    read.append(_read(open_input(new_session(application), item, {}), tmp_path / "c"))
    assert read == [[("new",)], [("newer.txt",)]]
