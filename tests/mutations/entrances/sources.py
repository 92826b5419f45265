"""The entrances of sources: files that land in a folder, records and their Avro schemas."""

import gzip
import json
import random
import shutil
from pathlib import Path
from typing import Any, Final

from flareiac_spark.sources.avro.compatibility import tolerated
from flareiac_spark.sources.avro.layout import is_value_of
from flareiac_spark.sources.folder_look import FilesRead, looked_at
from flareiac_spark.sources.samples import SampleRead, judged
from flareiac_spark_runtime.sources.avro.columns import NoColumn, columns_of, same_but_for_case
from flareiac_spark_runtime.sources.avro.differences import differences
from flareiac_spark_runtime.sources.avro.reading import is_in_shape, reading
from flareiac_spark_runtime.sources.avro.spelling import spelled
from flareiac_spark_runtime.sources.avro.types import NotAvro, Record, parse
from flareiac_spark_runtime.sources.resolved import SpecColumn
from tests.mutations.documents import damage_document
from tests.mutations.entrances.entrance import Entrance, Gate
from tests.mutations.mutate import ANY_TEXT, damaged

COLUMNS: Final = (
    SpecColumn(name="id", type="long"),
    SpecColumn(name="ts", type="timestamptz"),
    SpecColumn(name="price", type="decimal(10,2)"),
    SpecColumn(name="inner", type="struct<a: int, b: list<string>>"),
    SpecColumn(name="Ünïcode", type="string"),
)
SCHEMAS: Final = (
    (
        b'{"type":"record","name":"a.R","fields":[{"name":"id","type":"long"},{"name":"ts","type":["null",{"type":"long",'
        b'"logicalType":"timestamp-micros"}],"default":null},{"name":"price","type":{"type":"bytes","logicalType":"decimal",'
        b'"precision":10,"scale":2}},{"name":"inner","type":{"type":"record","name":"I","fields":[{"name":"a","type":"int"},'
        b'{"name":"b","type":{"type":"array","items":"string"}},{"name":"next","type":["null","I"]}]}}]}'
    ),
    (
        b'{"type":"record","name":"Envelope","namespace":"s.t","fields":[{"name":"before","type":["null",{"type":"record",'
        b'"name":"Value","fields":[{"name":"id","type":"int"},{"name":"e","type":{"type":"enum","name":"E","symbols":["A","B"]}}]'
        b'}]},{"name":"after","type":["null","Value"]},{"name":"op","type":"string"},{"name":"m","type":{"type":"map","values":'
        b'"double"}},{"name":"f","type":{"type":"fixed","name":"F","size":16,"connect.name":"x","connect.version":1}}]}'
    ),
    b'["null","string",{"type":"array","items":{"type":"map","values":"bytes"}}]',
    b'"string"',
)
_LINES: Final = (
    (
        b'{"id": 1, "ts": "2026-01-01T00:00:00Z", "price": "12.50", "inner": {"a": 1, "b": ["x"]}}\n'
        b'{"id": 2, "ts": null, "price": 1e2, "inner": null, "other": [1, {"z": 1}]}\n'
    ),
    b'id,ts,price,inner,"\xc3\x9cn\xc3\xafcode"\n1,2026-01-01,"12,50",{},"a ""b"""\n2,,,,\n',
    b'[{"id": 1}]',
)


def _open_avro(_root: Path) -> Gate:
    def make(choose: random.Random) -> tuple[bytes, bytes]:
        content = choose.choice(SCHEMAS)
        if choose.random() < 0.7:
            document = json.loads(content)
            damage_document([document], choose, [json.loads(other) for other in SCHEMAS])
            content = json.dumps(document).encode(errors="surrogatepass")
        else:
            content = damaged(content, choose, list(SCHEMAS), ANY_TEXT)[1]
        return content, choose.randbytes(choose.randrange(40))

    def enter(given: tuple[bytes, bytes]) -> None:
        text, record = given
        try:
            schema = parse(text.decode("utf-8", "replace"))
        except NotAvro:
            return
        spelled(schema)
        differences(schema, COLUMNS)
        tolerated("BACKWARD", schema, COLUMNS)
        is_value_of(schema, record)
        if isinstance(schema, Record):
            same_but_for_case(schema)
            for column in COLUMNS:
                if is_in_shape(schema, column):
                    reading(schema, "payload", [column])
            try:
                list(columns_of(schema))
            except NoColumn:
                return

    return Gate(make=make, enter=enter)


def _open_samples(_root: Path) -> Gate:
    framed = b"\x00\x00\x00\x00\x07"

    def make(choose: random.Random) -> tuple[Any, list[bytes]]:
        values = list(choose.choice(_LINES).splitlines())
        values = [
            damaged(value, choose, values, ANY_TEXT)[1] if choose.random() < 0.5 else value
            for value in values
        ]
        values = [framed + value if choose.random() < 0.1 else value for value in values]
        return choose.choice(("json", "avro")), values

    def enter(given: tuple[Any, list[bytes]]) -> None:
        kind, values = given
        judged(SampleRead(format=kind, columns=COLUMNS), "topic", values)

    return Gate(make=make, enter=enter)


def _open_folders(root: Path) -> Gate:
    """Names of files and of folders as bytes, contents cut in every way, also packed ones."""
    names = (
        b"a.json",
        b"b.csv",
        b"c.json.gz",
        b"d.csv.gz",
        b"\xff\xfe.json",
        b"dt=2026-01-01/x.json",
        b"[a].json",
        b"_x",
        b".y",
        b"a\nb.csv",
        "é.json".encode(),
    )

    def make(choose: random.Random) -> Any:
        files = {}
        for name in choose.sample(names, choose.randrange(1, 4)):
            content = damaged(choose.choice(_LINES), choose, list(_LINES), ANY_TEXT)[1][:100_000]
            if name.endswith(b".gz") and choose.random() < 0.9:
                packed = bytearray(gzip.compress(content, mtime=0))
                packed[choose.randrange(len(packed))] ^= 1 << choose.randrange(8)
                content = bytes(packed[: choose.choice((None, choose.randrange(len(packed))))])
            content = choose.choice(
                (
                    content,
                    content,
                    b"\xef\xbb\xbf" + content,
                    content.replace(b"\n", b"\r"),
                    content.decode(errors="replace").encode("utf-16"),
                )
            )
            files[name] = content
        options = {
            key: choose.choice(("true", "false", "", "x", ";", "utf-16"))
            for key in choose.sample(
                ("header", "sep", "encoding", "multiLine", "HEADER"), choose.randrange(3)
            )
        }
        return files, choose.choice(("json", "csv", "parquet")), options

    def enter(given: Any) -> None:
        files, kind, options = given
        shutil.rmtree(root)
        for name, content in files.items():
            path = Path(str(root) + "/" + name.decode("utf-8", "surrogateescape"))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        how = FilesRead(
            folder=root, format=kind, options=options, columns=COLUMNS, json_lines=kind == "json", oldest_ms=0
        )
        looked_at(how)

    return Gate(make=make, enter=enter)


ENTRANCES: Final = (
    Entrance(name="avro", share=120_000, open=_open_avro),
    Entrance(name="samples", share=60_000, open=_open_samples),
    Entrance(name="folders", share=30_000, open=_open_folders),
)
