"""The smallest inputs of those that did not end well once, each at its entrance."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from botocore.httpsession import URLLib3Session

from flareiac_iceberg.catalogs.glue import reader as glue
from flareiac_iceberg.catalogs.rest import reader as rest
from tests.mutations.entrances import answers, sources
from tests.mutations.entrances.all import ENTRANCES
from tests.mutations.entrances.answers import Answer


def _whole(known: Any, **changed: Any) -> dict[str, Answer]:
    """Answers as they should be, but for these."""
    bodies = {**known, **changed}
    return {path: (200, b"", json.dumps(body).encode()) for path, body in bodies.items()}


def _table(**changed: Any) -> dict[str, Any]:
    return {"GetTables": {"TableList": [{"Name": "t", "Parameters": {}, **changed}]}}


def _record(kind: bytes) -> bytes:
    """A schema of a record with one field of this type."""
    return b'{"type": "record", "name": "R", "fields": [{"name": "a", "type": %s}]}' % kind


_PACKED = gzip.compress(sources._LINES[0], mtime=0)
INPUTS: list[tuple[str, Any]] = [
    ("rest", _whole(answers._REST, **{"/tables": {"identifiers": 7}})),
    ("rest", _whole(answers._REST, **{"/tables": {"identifiers": [], "next-page-token": "again"}})),
    ("rest", _whole(answers._REST, **{"/namespaces": {"namespaces": True}})),
    ("rest", _whole(answers._REST, **{"/namespaces": {"namespaces": [[]], "next-page-token": 1}})),
    ("rest", _whole(answers._REST, **{"/config": {"defaults": {}, "overrides": {"uri": "file:///etc"}}})),
    ("rest", _whole(answers._REST, **{"/tables": {"identifiers": [{"name": "\ud800"}]}})),
    ("rest", _whole(answers._REST, **{"/namespaces": {"namespaces": [["\ud800"]], "next-page-token": "\ud800"}})),
    ("rest", _whole(answers._REST, **{"/config": {"overrides": {"namespace-separator": "\ud800", "prefix": "\ud800"}}})),
    ("registry", _whole(answers._REGISTRY, **{"/subjects": answers._SUBJECT | {"references": [
        {"name": name, "subject": name, "version": version} for name in "abc" for version in (1, 2, 3)
    ]}})),
    ("glue", _whole(answers._GLUE, **_table(CreateTime=1e18))),
    ("glue", {**_whole(answers._GLUE), "GetTables": (200, b"", b"[" * 100_000)}),
    ("glue", {**_whole(answers._GLUE), "GetTables": (500, b"", b"[" * 100_000)}),
    ("avro", (_record(b'["null", {"type": ["null", "long"]}]'), b"")),
    ("avro", (_record(b'{"type": ["long", {"type": ["string"]}]}'), b"")),
    ("avro", (_record(b'{"type": "null", "connect.name": "x"}'), b"")),
    ("words", ("where", "(" * 20_000)),
    ("words", ("pattern", "(" * 20_000)),
    ("words", ("pattern", "a{99999999999999999999}")),
    ("folders", ({b"a.json.gz": _PACKED[:12] + b"\xff\xff" + _PACKED[14:]}, "json", {})),
    ("folders", ({b"a.csv": b"id,ts\r1,2\r"}, "csv", {"header": "true"})),
    ("folders", ({b"a.csv": b'"a\rb",c\r'}, "csv", {})),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "given"), INPUTS, ids=[f"{name}-{at}" for at, (name, _) in enumerate(INPUTS)]
)
def test_it_ends_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, given: Any) -> None:
    for module, member in ((rest, "HttpClient"), (glue, "glue_client")):
        monkeypatch.setattr(module, member, getattr(module, member))  # what an entrance replaces is put back
    monkeypatch.setattr(URLLib3Session, "send", URLLib3Session.send)
    ENTRANCES[name].open(tmp_path).enter(given)
