"""Writes to a catalog behind Iceberg's REST protocol: the server writes the metadata and checks requirements.
Touches the world.
"""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pyiceberg.catalog.rest import RestCatalog as Client
from pyiceberg.exceptions import CommitFailedException, NoSuchTableError, RESTError, TableAlreadyExistsError
from pyiceberg.table import CreateTableTransaction
from pyiceberg.table.update import AssertCreate, TableRequirement, TableUpdate
from requests import PreparedRequest, RequestException, Response, Session, TooManyRedirects
from requests.adapters import HTTPAdapter

from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac.sdk.http_client import REDIRECTED
from flareiac.sdk.secrets import resolve, said
from flareiac_iceberg import codes
from flareiac_iceberg.catalogs.base import ANSWER_SECONDS, CONNECT_SECONDS, present
from flareiac_iceberg.catalogs.library_settings import library_settings
from flareiac_iceberg.catalogs.library_writer import LibraryWriter, arguments, identifier
from flareiac_iceberg.catalogs.outcomes import Conflict, Exists
from flareiac_iceberg.catalogs.requests import Definition, TableCommit
from flareiac_iceberg.catalogs.rest.reader import RestReader
from flareiac_iceberg.catalogs.rest.spec import RestCatalog
from flareiac_iceberg.catalogs.target import Target
from flareiac_iceberg.catalogs.writer import Missing


class _Bounded(HTTPAdapter):
    """Gives the requests of Iceberg's library the rules of ``flareiac.sdk.http_client``: they end in time,
    although the library names no timeout, and no redirect is followed, by which headers of the catalog would
    reach another server.
    """

    def send(self, request: PreparedRequest, *arguments: Any, **options: Any) -> Response:
        if options.get("timeout") is None:
            options["timeout"] = (CONNECT_SECONDS, 3 * ANSWER_SECONDS)
        answer = super().send(request, *arguments, **options)
        if answer.is_redirect:
            raise TooManyRedirects(f"HTTP {answer.status_code}: {REDIRECTED}", response=answer)
        return answer


class _Client(Client):
    def _config_headers(self, session: Session) -> None:
        # The first thing that is done with a new session, before any token is asked for.
        for scheme in ("http://", "https://"):
            session.mount(scheme, _Bounded())
        super()._config_headers(session)


class RestWriter(LibraryWriter[RestCatalog, Client]):
    """A server is asked to stage a new table, and gets all updates in one commit."""

    nests_namespaces = True

    def open_library(self) -> Client:
        spec = self.spec
        own = {"uri": spec.uri, "warehouse": spec.warehouse or None, "prefix": spec.prefix}
        login = {
            "credential": resolve(spec.credential) if spec.credential else None,
            "token": resolve(spec.token) if spec.token else None,
            "oauth2-server-uri": spec.token_uri if spec.credential else None,
        }
        # The server reads and writes the files; the library would look for pyarrow first
        files = {"py-io-impl": "pyiceberg.io.fsspec.FsspecFileIO"}
        return _Client(spec.name, **files | library_settings(spec) | present(own | login))

    def reader(self) -> RestReader:
        return RestReader(self.spec)

    @contextmanager
    def errors(self, *, opening: bool = False) -> Iterator[None]:
        try:
            yield
        except CommitFailedException:
            raise
        except (RESTError, RequestException, OSError, ValueError) as failure:
            raise Failure(self.complaint(_said(failure), known=opening or _is_refusal(failure))) from failure

    def _create(self, target: Target, what: Definition, location: str | None, missing: Missing) -> None:
        """Creates a table. A part that a server which stages no tables does not take follows in a second
        commit.
        """
        if what.needs_updates:
            try:
                staged = self.catalog.create_table_transaction(
                    *arguments(target, what, location, min(what.version, 2))
                )
            except RESTError:
                # Nothing was created. A plain create finds out whether the server only stages no tables.
                pass
            else:
                try:
                    self._commit_staged(staged, missing)
                except CommitFailedException as taken:
                    raise Exists(target.full_name) from taken
                return
        try:
            self.catalog.create_table(*arguments(target, what, location, what.version))
        except TableAlreadyExistsError as taken:
            raise Exists(target.full_name) from taken

    def _commit_staged(self, staged: CreateTableTransaction, missing: Missing) -> None:
        metadata = json.loads(staged._table.metadata.model_dump_json())
        self.catalog.commit_table(
            staged._table, (AssertCreate(),), (*staged._updates, *_updates(missing(metadata)))
        )

    def commit(self, target: Target, change: TableCommit) -> None:
        requirement: TypeAdapter[TableRequirement] = TypeAdapter(TableRequirement)
        required = tuple(requirement.validate_python(need) for need in change.needs)
        steps = _updates(change.updates)
        sent = [json.loads(step.model_dump_json()) for step in steps]
        unsent = sorted(set(_unsent(_schemas(change.updates), _schemas(sent))))
        if unsent:
            raise Failure(_would_lose(target, unsent))
        with self.errors():
            try:
                table = self.catalog.load_table(identifier(target))
                self.catalog.commit_table(table, required, steps)
            except (CommitFailedException, NoSuchTableError) as conflict:
                raise Conflict(str(conflict)) from conflict


def _updates(given: Iterable[Attributes]) -> tuple[TableUpdate, ...]:
    update: TypeAdapter[TableUpdate] = TypeAdapter(TableUpdate)
    return tuple(update.validate_python(table_update) for table_update in given)


def _schemas(updates: Iterable[Attributes]) -> list[Data]:
    schemas: list[Data] = []
    for update in updates:
        match update:
            case {"action": "add-schema", "schema": schema}:
                schemas.append(schema)
            case _:
                pass  # only columns have keys that the library may not know
    return schemas


def _unsent(given: Data, sent: Data) -> Iterator[str]:
    """The names of values in a schema that Iceberg's library does not know, and so does not send."""
    match given, sent:
        case dict(), dict():
            for name, value in given.items():
                if name in sent:
                    yield from _unsent(value, sent[name])
                elif value is not None:
                    yield name
        case [*items], [*others] if len(items) == len(others):
            for value, other in zip(items, others, strict=True):
                yield from _unsent(value, other)
        case _:
            pass


def _would_lose(target: Target, names: list[str]) -> Diagnostic:
    return error(
        codes.VALUES_UNKNOWN,
        f"The columns of {target.full_name} carry values that another program wrote and FlareIaC cannot send "
        f"to a REST catalog: {', '.join(names)}. The change would erase them, so nothing of it took effect. "
        "Make this change with the program that wrote them.",
    )


def _is_refusal(failure: Exception) -> bool:
    """Returns True if the server did not take the request, and so did nothing."""
    answered = failure if isinstance(failure, TooManyRedirects) else failure.__cause__
    response = getattr(answered, "response", None)
    return (
        response is not None
        and 300 <= response.status_code < 500
        and response.status_code != HTTPStatus.REQUEST_TIMEOUT
    )


def _said(failure: Exception) -> str:
    """The complaint of a library, without the input that it was given: that may be a token."""
    if not isinstance(failure, ValidationError):
        return said(failure)
    complaints = failure.errors(include_url=False, include_context=False, include_input=False)
    return "; ".join(
        f"{'.'.join(map(str, complaint['loc'])) or 'all of it'}: {complaint['msg']}"
        for complaint in complaints
    )
