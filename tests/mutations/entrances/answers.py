"""The entrances of servers: what a REST catalog, AWS Glue and a schema registry answer, byte by byte."""

import io
import json
import random
from collections.abc import Mapping, Sequence
from contextlib import suppress
from email.message import Message
from http.client import HTTPResponse
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch
from urllib.request import BaseHandler, Request, build_opener

import boto3
from botocore.awsrequest import AWSResponse
from botocore.httpsession import URLLib3Session

from flareiac.kernel.diagnostics import Failure
from flareiac.sdk.http_client import HttpClient, NoRedirects
from flareiac_iceberg.catalogs.base import CatalogSpec
from flareiac_iceberg.catalogs.glue import reader as glue
from flareiac_iceberg.catalogs.kinds import spec_of
from flareiac_iceberg.catalogs.metadata_files import load_entry
from flareiac_iceberg.catalogs.opening import reader_of
from flareiac_iceberg.catalogs.rest import reader as rest
from flareiac_spark.sources.avro.latest import asked
from flareiac_spark.sources.avro.subjects import SubjectQuestion, judged
from flareiac_spark_runtime.sources.avro.registry import NotFound, Registry, RegistryAccess, RegistryProblem
from tests.iceberg.lake import Lake
from tests.mutations.documents import damage_document
from tests.mutations.entrances.entrance import Bug, Entrance, Gate, check
from tests.mutations.entrances.sources import SCHEMAS
from tests.mutations.mutate import ANY_TEXT, damaged

Answer = tuple[int, bytes, bytes]
"""Status, head and body of an answer; a head or body that is damaged is any bytes."""
_STATUSES: Final = (
    200,
    200,
    200,
    200,
    200,
    201,
    204,
    301,
    302,
    400,
    401,
    403,
    404,
    404,
    409,
    419,
    422,
    429,
    500,
    503,
    999,
)
_HEADS: Final = (
    b"Content-Type: application/json\r\n",
    b"Content-Length: 5\r\n",
    b"Content-Length: 99999999999999999999\r\n",
    b"Content-Length: -1\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"Content-Encoding: gzip\r\n",
    b"Location: file:///etc/hostname\r\n",
    b"Location: http://[\r\n",
    b"\xff: \x00\r\n",
    b"X: " + b"a" * 70_000 + b"\r\n",
)
_TABLE: Final = {
    "metadata-location": "file:///nowhere/x.metadata.json",
    "metadata": {
        "format-version": 2,
        "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1",
        "location": "file:///nowhere",
        "last-sequence-number": 1,
        "last-updated-ms": 1_700_000_000_000,
        "last-column-id": 2,
        "current-schema-id": 0,
        "schemas": [
            {
                "type": "struct",
                "schema-id": 0,
                "fields": [
                    {"id": 1, "name": "id", "required": True, "type": "long"},
                    {"id": 2, "name": "ts", "required": False, "type": "timestamptz", "doc": "x"},
                ],
            }
        ],
        "default-spec-id": 0,
        "partition-specs": [
            {"spec-id": 0, "fields": [{"source-id": 2, "field-id": 1000, "name": "d", "transform": "day"}]}
        ],
        "last-partition-id": 1000,
        "default-sort-order-id": 0,
        "sort-orders": [{"order-id": 0, "fields": []}],
        "properties": {"a": "b"},
        "current-snapshot-id": 1,
        "refs": {"main": {"snapshot-id": 1, "type": "branch"}},
        "snapshots": [
            {
                "snapshot-id": 1,
                "sequence-number": 1,
                "timestamp-ms": 1_700_000_000_000,
                "manifest-list": "file:///nowhere/snap-1.avro",
                "summary": {"operation": "append", "total-records": "3"},
                "schema-id": 0,
            }
        ],
        "snapshot-log": [{"timestamp-ms": 1_700_000_000_000, "snapshot-id": 1}],
        "metadata-log": [],
    },
    "config": {},
}
_REST: Final[Mapping[str, Any]] = {
    "/config": {"defaults": {"prefix": "p"}, "overrides": {"namespace-separator": "%1F"}},
    "/tables/": _TABLE,
    "/tables": {"identifiers": [{"namespace": ["n"], "name": "t"}], "next-page-token": None},
    "/views": {"error": {"code": 404, "type": "NoSuchViewException", "message": "no"}},
    "/namespaces/": {"namespace": ["n"], "properties": {"owner": "x"}},
    "/namespaces": {"namespaces": [["n"]], "next-page-token": ""},
    "/tokens": {"access_token": "t", "token_type": "bearer", "expires_in": 3600},
}
_SUBJECT: Final = {
    "subject": "s",
    "version": 1,
    "id": 1,
    "schema": SCHEMAS[0].decode(),
    "references": [{"name": "a", "subject": "b", "version": 1}],
}
_REGISTRY: Final[Mapping[str, Any]] = {
    "/config": {"compatibilityLevel": "BACKWARD"},
    "/compatibility": {"is_compatible": False, "messages": ["no"]},
    "/subjects": _SUBJECT,
    "/schemas": {"schema": SCHEMAS[0].decode()},
}
_GLUE: Final[Mapping[str, Any]] = {
    "GetTables": {
        "TableList": [
            {
                "Name": "t",
                "DatabaseName": "n",
                "Parameters": {
                    "table_type": "ICEBERG",
                    "metadata_location": "s3://b/t/metadata/1.metadata.json",
                },
                "StorageDescriptor": {"Location": "s3://b/t", "Columns": [{"Name": "id", "Type": "bigint"}]},
                "CreateTime": 1_700_000_000.0,
            }
        ]
    },
    "GetDatabase": {"Database": {"Name": "n", "LocationUri": "s3://b", "Parameters": {"a": "b"}}},
    "GetDatabases": {"DatabaseList": [{"Name": "n"}]},
}


def _answer(known: Mapping[str, Any], choose: random.Random) -> Mapping[str, Answer]:
    """An answer for each kind of question, most of them as they should be."""
    return {
        path: _damaged(body, choose, list(known.values()))
        if choose.random() < 0.5
        else (200, b"", json.dumps(body).encode())
        for path, body in known.items()
    }


def _damaged(body: Any, choose: random.Random, others: Sequence[Any]) -> Answer:
    status = choose.choice(_STATUSES)
    if status >= 400 and choose.random() < 0.5:
        kind = choose.choice(("NoSuchTableException", "NoSuchNamespaceException", "X", 7, None))
        body = choose.choice(
            (
                {"error": {"type": kind, "message": "m", "code": status}},
                {"error_code": status, "message": "m"},
            )
        )
    content = json.dumps(body).encode()
    if choose.random() < 0.6:
        document = json.loads(content)
        damage_document(document, choose, others)
        content = json.dumps(document).encode(errors="surrogatepass")
    elif choose.random() < 0.5:
        content = damaged(content, choose, [content], ANY_TEXT)[1]
    return status, choose.choice(_HEADS) if choose.random() < 0.2 else b"", content


class _Socket:
    def __init__(self, content: bytes) -> None:
        self._content = content

    def makefile(self, *_ignored: object) -> io.BytesIO:
        return io.BytesIO(self._content)


class _Answering(BaseHandler):
    """Gives the answer of the longest part of an address that is known. No one is asked."""

    handler_order = 100

    def __init__(self) -> None:
        self.answers: Mapping[str, Answer] = {}
        self.asked = 0

    def http_open(self, request: Request) -> HTTPResponse:
        self.asked += 1
        if self.asked > _MOST_ASKED:
            raise Bug(f"more than {_MOST_ASKED} questions")
        response = HTTPResponse(_Socket(_raw(_of(self.answers, request.full_url))))  # type: ignore[arg-type]  # what it reads of a socket
        response.begin()
        return _as_opened(response)

    https_open = http_open


def _as_opened(response: HTTPResponse) -> HTTPResponse:
    """A response as urllib gives it on."""
    response.url = ""
    response.msg = response.reason  # type: ignore[assignment]  # as urllib itself does
    return response


_MOST_ASKED: Final = 30_000


def _of(answers: Mapping[str, Answer], address: str) -> Answer:
    found = [path for path in answers if path in address]
    return answers[max(found, key=len)] if found else (404, b"", b"")


def _raw(answer: Answer) -> bytes:
    status, head, body = answer
    return b"HTTP/1.1 %d X\r\n" % status + head + b"\r\n" + body


def _catalog(root: Path, attributes: Mapping[str, Any]) -> CatalogSpec:
    found = Lake(root).canonical("catalog", "x", attributes)
    return spec_of("catalog.x", found)


def _use(catalog: CatalogSpec) -> None:
    """Asks a catalog all that its reader can be asked."""
    reader = reader_of(catalog)
    for ask in (
        lambda: _load(reader.table("n", "t"), catalog),
        lambda: list(reader.tables("n")),
        lambda: reader.namespace("n"),
        reader.everything,
    ):
        try:
            ask()
        except Failure as failure:
            check(failure.diagnostics)


def _load(pointer: Any, catalog: CatalogSpec) -> None:
    if pointer is not None and pointer.fetch is not None:
        load_entry(pointer, catalog).read()


def _open_rest(root: Path) -> Gate:
    catalog = _catalog(root, {"type": "rest", "uri": "http://localhost:1/x", "warehouse": "w"})
    answering = _Answering()
    client = HttpClient(seconds=1)
    client._opener = build_opener(answering, NoRedirects())
    vars(rest)["HttpClient"] = lambda **_named: client

    def enter(answers: Mapping[str, Answer]) -> None:
        rest.server.cache_clear()
        answering.answers, answering.asked = answers, 0
        _use(catalog)

    return Gate(make=lambda choose: _answer(_REST, choose), enter=enter)


def _open_glue(root: Path) -> Gate:
    catalog = _catalog(root, {"type": "glue", "warehouse": "s3://bucket/lake"})
    answers: dict[str, Answer] = {}
    asked_for: list[str] = []

    def send(_session: object, request: Any) -> AWSResponse:
        name = request.headers["X-Amz-Target"].decode().rpartition(".")[2]
        asked_for.append(name)
        if len(asked_for) > _MOST_ASKED:
            raise Bug(f"more than {_MOST_ASKED} questions")
        status, head, body = answers[name]
        raw = _Raw(body)
        headers = Message()
        for line in head.decode("latin-1").splitlines():
            key, _, value = line.partition(": ")
            headers[key] = value.strip()
        return AWSResponse(request.url, status, headers, raw)

    URLLib3Session.send = send  # no one is asked
    client = boto3.client("glue", region_name="us-east-1", aws_access_key_id="a", aws_secret_access_key="b")
    vars(glue)["glue_client"] = lambda _catalog: client

    def enter(given: Mapping[str, Answer]) -> None:
        asked_for.clear()
        answers.clear()
        answers.update(given)
        with patch("time.sleep"):
            _use(catalog)

    return Gate(make=lambda choose: _answer(_GLUE, choose), enter=enter)


class _Raw(io.BytesIO):
    def stream(self, *_ignored: object, **_named: object) -> Any:
        yield self.read()


def _open_registry(_root: Path) -> Gate:
    answering = _Answering()
    access = RegistryAccess(url="http://localhost:1")
    opener = build_opener(answering, NoRedirects())

    def registry(*arguments: Any, **named: Any) -> Registry:
        made = Registry(*arguments, **named)
        made._client._opener = opener
        return made

    def enter(answers: Mapping[str, Answer]) -> None:
        answering.answers, answering.asked = answers, 0
        with (
            patch("flareiac_spark.sources.avro.latest.Registry", registry),
            patch("flareiac_spark.sources.avro.subjects.Registry", registry),
        ):
            asked(access, ["s"])
            questions = [
                SubjectQuestion(subject="s", schema=None),
                SubjectQuestion(subject="s", schema=SCHEMAS[0].decode()),
            ]
            judged(access, questions)
        for ask in (lambda: registry(access).by_id(1), lambda: registry(access).versions("s")):
            with suppress(NotFound, RegistryProblem):
                ask()

    return Gate(make=lambda choose: _answer(_REGISTRY, choose), enter=enter)


ENTRANCES: Final[tuple[Entrance, ...]] = (
    Entrance(name="rest", share=40_000, open=_open_rest),
    Entrance(name="glue", share=6_000, open=_open_glue),
    Entrance(name="registry", share=20_000, open=_open_registry),
)
