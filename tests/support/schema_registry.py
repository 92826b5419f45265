"""A schema registry on the loopback that speaks Confluent's HTTP protocol, as far as clients of Avro schemas
use it.

    with SchemaRegistry() as registry:
        number = registry.register("flights-value", {"type": "record", ...})
        requests.get(f"{registry.url}/schemas/ids/{number}")
"""

import base64
import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Final, Self
from urllib.parse import unquote, urlsplit

from tests.support.avro_resolution import InvalidSchema, Json, check_schema, problems

LEVELS: Final = (
    "NONE",
    *(f"{way}{reach}" for way in ("BACKWARD", "FORWARD", "FULL") for reach in ("", "_TRANSITIVE")),
)
_SUBJECT: Final = r"([^/]+)"


class Refused(Exception):
    """An error as the protocol says it: a status and a code of five digits (or the status again)."""

    def __init__(self, status: int, code: int, message: str) -> None:
        super().__init__(message)
        self.status, self.code = status, code


@dataclass(frozen=True, slots=True, kw_only=True)
class _Version:
    number: int
    id: int


@dataclass(slots=True, kw_only=True)
class _Subject:
    versions: list[_Version] = field(default_factory=list)
    level: str | None = None


class SchemaRegistry:
    """A registry with no subjects; as a context, it serves. ``login`` is a user and a password that clients
    have to name. While ``down``, every request is answered with 503; ``requests`` lists what was asked, as
    ``GET /path``; ``answers`` are given to their paths in place of its own.
    """

    def __init__(self, *, login: tuple[str, str] | None = None) -> None:
        self.level = "BACKWARD"
        self.down = False
        self.requests: list[str] = []
        self.answers: dict[str, Json] = {}
        self._login: Final = login
        self._lock: Final = threading.RLock()
        self._schemas: Final[dict[int, str]] = {}
        self._subjects: Final[dict[str, _Subject]] = {}
        self._server: Final = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread: Final = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self.url: Final = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @contextmanager
    def outage(self) -> Iterator[None]:
        """It is down inside."""
        self.down = True
        try:
            yield
        finally:
            self.down = False

    def register(self, subject: str, schema: Json) -> int:
        """The id of a schema under a subject. Raises ``Refused`` where it is not compatible."""
        with self._lock:
            text = _canonical(schema)
            known = self._subjects.setdefault(subject, _Subject())
            number = self._id(text)
            if number is not None and any(version.id == number for version in known.versions):
                return number
            reasons = self._problems(known, schema, known.versions)
            if reasons:
                raise Refused(409, 409, f"Schema being registered is incompatible: {'; '.join(reasons)}")
            if number is None:
                number = len(self._schemas) + 1
                self._schemas[number] = text
            last = known.versions[-1].number if known.versions else 0
            known.versions.append(_Version(number=last + 1, id=number))
            return number

    def authorize(self, header: str | None) -> None:
        """Raises ``Refused`` where a login is wanted and not given."""
        if self._login is None:
            return
        if header != f"Basic {base64.b64encode(':'.join(self._login).encode()).decode()}":
            raise Refused(401, 401, "Unauthorized")

    def answer(self, method: str, path: str, body: Mapping[str, Json], *, verbose: bool = False) -> Json:
        """The answer to a request. Raises ``Refused``."""
        if self.down:
            raise Refused(503, 503, "Service Unavailable")
        if path in self.answers:
            return self.answers[path]
        for known_method, pattern, respond in self._routes(body, verbose):
            match = re.fullmatch(pattern, path)
            if match and known_method == method:
                with self._lock:
                    return respond(*(unquote(part) for part in match.groups() if part is not None))
        raise Refused(404, 404, "HTTP 404 Not Found")

    def _routes(
        self, body: Mapping[str, Json], verbose: bool
    ) -> tuple[tuple[str, str, Callable[..., Json]], ...]:
        subject = f"/subjects/{_SUBJECT}"
        return (
            ("GET", "/subjects", lambda: sorted(name for name, it in self._subjects.items() if it.versions)),
            ("GET", "/schemas/types", lambda: ["AVRO"]),
            ("GET", r"/schemas/ids/(-?\d+)", lambda number: {"schema": self._text(int(number))}),
            ("GET", r"/schemas/ids/(-?\d+)/versions", lambda number: self._uses(int(number))),
            ("GET", f"{subject}/versions", lambda name: [it.number for it in self._subject(name).versions]),
            ("POST", f"{subject}/versions", lambda name: {"id": self.register(name, _schema(body))}),
            ("GET", f"{subject}/versions/([^/]+)", self._version),
            ("POST", subject, lambda name: self._find(name, _schema(body))),
            ("DELETE", subject, self._delete),
            (
                "POST",
                f"/compatibility{subject}/versions(?:/([^/]+))?",
                lambda name, which=None: self._compatibility(name, which, _schema(body), verbose),
            ),
            ("GET", "/config", lambda: {"compatibilityLevel": self.level}),
            ("PUT", "/config", lambda: self._configure(None, body)),
            ("GET", f"/config/{_SUBJECT}", self._level_of),
            ("PUT", f"/config/{_SUBJECT}", lambda name: self._configure(name, body)),
        )

    def _id(self, text: str) -> int | None:
        return next((number for number, known in self._schemas.items() if known == text), None)

    def _text(self, number: int) -> str:
        if number not in self._schemas:
            raise Refused(404, 40403, f"Schema {number} not found")
        return self._schemas[number]

    def _uses(self, number: int) -> Json:
        self._text(number)
        return [
            {"subject": name, "version": version.number}
            for name, subject in sorted(self._subjects.items())
            for version in subject.versions
            if version.id == number
        ]

    def _subject(self, name: str) -> _Subject:
        found = self._subjects.get(name)
        if found is None or not found.versions:
            raise Refused(404, 40401, f"Subject '{name}' not found.")
        return found

    def _pick(self, name: str, which: str) -> _Version:
        versions = self._subject(name).versions
        if which in ("latest", "-1"):
            return versions[-1]
        if not re.fullmatch(r"\d+", which) or which == "0":
            raise Refused(422, 42202, f"The specified version '{which}' is not a valid version id.")
        found = next((version for version in versions if version.number == int(which)), None)
        if found is None:
            raise Refused(404, 40402, f"Version {which} not found.")
        return found

    def _version(self, name: str, which: str) -> Json:
        found = self._pick(name, which)
        return {"subject": name, "version": found.number, "id": found.id, "schema": self._text(found.id)}

    def _find(self, name: str, schema: Json) -> Json:
        number = self._id(_canonical(schema))
        for version in self._subject(name).versions:
            if version.id == number:
                return self._version(name, str(version.number))
        raise Refused(404, 40403, "Schema not found")

    def _delete(self, name: str) -> Json:
        numbers = [version.number for version in self._subject(name).versions]
        del self._subjects[name]
        return numbers

    def _compatibility(self, name: str, which: str | None, schema: Json, verbose: bool) -> Json:
        subject = self._subject(name)
        versions = [self._pick(name, which)] if which else subject.versions
        reasons = self._problems(subject, schema, versions)
        found: dict[str, Json] = {"is_compatible": not reasons}
        return {**found, "messages": reasons} if verbose else found

    def _problems(self, subject: _Subject, schema: Json, versions: list[_Version]) -> list[str]:
        level = subject.level or self.level
        compared = versions if level.endswith("_TRANSITIVE") else versions[-1:]
        way = level.removesuffix("_TRANSITIVE")
        found: list[str] = []
        for version in compared:
            older = json.loads(self._text(version.id))
            if way in ("BACKWARD", "FULL"):
                found += problems(reader=schema, writer=older)
            if way in ("FORWARD", "FULL"):
                found += problems(reader=older, writer=schema)
        return found

    def _level_of(self, name: str) -> Json:
        found = self._subjects.get(name)
        if found is None or found.level is None:
            raise Refused(
                404, 40408, f"Subject '{name}' does not have subject-level compatibility configured"
            )
        return {"compatibilityLevel": found.level}

    def _configure(self, name: str | None, body: Mapping[str, Json]) -> Json:
        level = str(body.get("compatibility"))
        if level not in LEVELS:
            raise Refused(422, 42203, "Invalid compatibility level")
        if name is None:
            self.level = level
        else:
            self._subjects.setdefault(name, _Subject()).level = level
        return {"compatibility": level}


def _schema(body: Mapping[str, Json]) -> Json:
    """The schema that a request carries as text."""
    if body.get("schemaType", "AVRO") != "AVRO":
        raise Refused(422, 42201, f"Invalid schema type {body['schemaType']}")
    try:
        schema: Json = json.loads(str(body.get("schema")))
        check_schema(schema)
    except (json.JSONDecodeError, InvalidSchema) as wrong:
        raise Refused(422, 42201, f"Invalid schema: {wrong}") from None
    return schema


def _canonical(schema: Json) -> str:
    return json.dumps(schema, separators=(",", ":"))


def _handler(registry: SchemaRegistry) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _serve(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            raw = self.rfile.read(length)
            address = urlsplit(self.path)
            registry.requests.append(f"{self.command} {address.path}")
            try:
                registry.authorize(self.headers.get("Authorization"))
                body = json.loads(raw) if raw else {}
                verbose = "verbose=true" in address.query
                self._send(200, registry.answer(self.command, address.path, body, verbose=verbose))
            except json.JSONDecodeError:
                self._send(400, {"error_code": 400, "message": "Unable to process JSON"})
            except Refused as refused:
                self._send(refused.status, {"error_code": refused.code, "message": str(refused)})

        do_GET = do_POST = do_PUT = do_DELETE = _serve  # noqa: N815  # names of the standard library

        def _send(self, status: int, content: Json) -> None:
            data = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/vnd.schemaregistry.v1+json")
            self.send_header("Content-Length", str(len(data)))
            if status == 401:
                self.send_header("WWW-Authenticate", 'Basic realm="registry"')
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Standard error belongs to the tests."""

    return Handler
