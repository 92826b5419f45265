"""Opens catalogs for writing through pyiceberg, and tells their trouble as diagnostics. Touches the world."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, assert_never

from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac.sdk.secrets import said
from flareiac_iceberg import codes
from flareiac_iceberg.catalogs.spec import (
    ANSWER_SECONDS,
    BUSY_TIMEOUT_MS,
    CONNECT_SECONDS,
    CatalogSpec,
    GlueCatalog,
    PostgresCatalog,
    RestCatalog,
    SqliteCatalog,
    s3_settings,
)
from flareiac_iceberg.format.locations import local_path

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog


class Connections:
    """The open catalogs of a session, one for each declaration. Safe to use from several threads."""

    def __init__(self) -> None:
        self._open: dict[CatalogSpec, Catalog] = {}
        self._lock = threading.Lock()

    def get(self, spec: CatalogSpec) -> "Catalog":
        """The open catalog; its file and the folder of its warehouse are made where they are missing. Raises ``Failure``."""
        with self._lock:
            if spec not in self._open:
                with trouble_told(spec, opening=True):
                    self._open[spec] = _open(spec)
            return self._open[spec]

    def close(self) -> None:
        """Closes every open catalog."""
        with self._lock:
            while self._open:
                _, catalog = self._open.popitem()
                catalog.close()


def _open(spec: CatalogSpec) -> "Catalog":
    # The classes themselves, not load_catalog: that would mix in files and variables of whoever runs this.
    warehouse = local_path(spec.warehouse)
    if isinstance(spec, SqliteCatalog):
        spec.database.parent.mkdir(parents=True, exist_ok=True)
    if warehouse is not None and not isinstance(spec, RestCatalog):
        warehouse.mkdir(parents=True, exist_ok=True)
    settings = file_settings(spec)
    match spec:
        case SqliteCatalog():
            from pyiceberg.catalog.sql import SqlCatalog

            uri = f"sqlite:///{spec.database}?timeout={BUSY_TIMEOUT_MS // 1000}"
            return SqlCatalog(spec.name, **settings | {"uri": uri, "warehouse": spec.warehouse})
        case PostgresCatalog():
            from pyiceberg.catalog.sql import SqlCatalog

            # A connection of the pool may have ended since it was used last.
            own = {"uri": _sqlalchemy_uri(spec), "warehouse": spec.warehouse, "pool_pre_ping": "true"}
            return SqlCatalog(spec.name, **settings | own)
        case RestCatalog():
            from flareiac_iceberg.catalogs.rest_writer import open_rest

            return open_rest(spec, settings)
        case GlueCatalog():
            from pyiceberg.catalog.glue import GlueCatalog as Writer

            from flareiac_iceberg.catalogs.glue import glue_client

            return Writer(spec.name, client=glue_client(spec), **settings | {"warehouse": spec.warehouse})
        case _:
            assert_never(spec)


def file_settings(spec: CatalogSpec) -> dict[str, str]:
    """The properties by pyiceberg's names, secrets included, with bounds on patience. Raises ``Failure``."""
    bounds = {"s3.connect-timeout": str(CONNECT_SECONDS), "s3.request-timeout": str(ANSWER_SECONDS)}
    settings = {**bounds, **s3_settings(spec.settings())}
    if settings.get("s3.path-style-access") == "false":
        settings.setdefault("s3.force-virtual-addressing", "true")
    return settings


def _sqlalchemy_uri(spec: PostgresCatalog) -> str:
    from sqlalchemy.engine import URL

    from flareiac_iceberg.catalogs.postgres import connection_arguments

    known = connection_arguments(spec)
    place = {name: known.pop(name, None) for name in ("user", "password", "host", "port", "dbname")}
    bound = {"options": f"-c statement_timeout={1000 * ANSWER_SECONDS} -c lock_timeout={1000 * ANSWER_SECONDS}"}
    return URL.create(
        "postgresql+psycopg2",
        username=place["user"],
        password=place["password"],
        host=place["host"],
        port=int(place["port"] or 5432),
        database=place["dbname"],
        query=known | bound,
    ).render_as_string(hide_password=False)


@contextmanager
def trouble_told(spec: CatalogSpec, *, opening: bool = False) -> Iterator[None]:
    """Turns what disks, databases and servers raise into a ``Failure``; an answer of the catalog (a conflict, a missing table) passes.

    ``opening``: no change is asked for yet, so none can have been made.
    """
    match spec:
        case SqliteCatalog() | PostgresCatalog():
            with _database_told(spec, opening=opening):
                yield
        case RestCatalog():
            with _server_told(spec, opening=opening):
                yield
        case GlueCatalog():
            with _aws_told(spec, opening=opening):
                yield
        case _:
            assert_never(spec)


@contextmanager
def _database_told(spec: SqliteCatalog | PostgresCatalog, *, opening: bool) -> Iterator[None]:
    from sqlalchemy.exc import DBAPIError, SQLAlchemyError

    try:
        yield
    except DBAPIError as trouble:
        lost = isinstance(spec, PostgresCatalog) and trouble.connection_invalidated
        raise Failure(_told(spec, str(trouble.orig or trouble), known=opening or not lost)) from trouble
    except SQLAlchemyError as trouble:
        raise Failure(unwritable(spec, str(trouble))) from trouble
    except OSError as trouble:
        raise Failure(unwritable(spec, trouble.strerror or str(trouble))) from trouble


@contextmanager
def _server_told(spec: RestCatalog, *, opening: bool) -> Iterator[None]:
    from pyiceberg.exceptions import CommitFailedException, RESTError
    from requests import RequestException

    try:
        yield
    except CommitFailedException:
        raise
    except (RESTError, RequestException, OSError, ValueError) as trouble:
        raise Failure(_told(spec, f"{type(trouble).__name__}: {_said(trouble)}", known=opening or _is_refusal(trouble))) from trouble


def _is_refusal(trouble: Exception) -> bool:
    """Whether the server did not take the request, and so did nothing."""
    response = getattr(trouble.__cause__, "response", None)
    return response is not None and 400 <= response.status_code < 500 and response.status_code != HTTPStatus.REQUEST_TIMEOUT


def _said(trouble: Exception) -> str:
    """What a library complains of, without what it was given: that may be a token."""
    from pydantic import ValidationError

    if not isinstance(trouble, ValidationError):
        return said(trouble)
    found = trouble.errors(include_url=False, include_context=False, include_input=False)
    return "; ".join(f"{'.'.join(map(str, item['loc'])) or 'all of it'}: {item['msg']}" for item in found)


@contextmanager
def _aws_told(spec: GlueCatalog, *, opening: bool) -> Iterator[None]:
    from botocore.exceptions import BotoCoreError, ClientError
    from botocore.parsers import ResponseParserError

    try:
        yield
    except ClientError as trouble:
        # An answer of 500 and more does not tell whether the change was made.
        known = trouble.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 500) < 500
        raise Failure(_told(spec, str(trouble), known=opening or known)) from trouble
    except (BotoCoreError, ResponseParserError) as trouble:
        raise Failure(_told(spec, f"{type(trouble).__name__}: {said(trouble)}", known=opening)) from trouble
    except OSError as trouble:
        raise Failure(unwritable(spec, trouble.strerror or str(trouble))) from trouble


def _told(spec: CatalogSpec, why: str, *, known: bool) -> Diagnostic:
    return unwritable(spec, why) if known else undecided(spec, why)


def unwritable(spec: CatalogSpec, why: str) -> Diagnostic:
    """Complains that the catalog or its warehouse cannot be written."""
    return error(
        codes.CATALOG_NOT_WRITTEN,
        f"{spec.address}: {_line(why)} (catalog {spec.shown}, warehouse {spec.warehouse or 'of the server'}). Nothing of this change took "
        "effect. Check free space and write access to both places, then apply again.",
    )


def undecided(spec: CatalogSpec, why: str) -> Diagnostic:
    """Complains that the catalog did not say whether it made a change."""
    return error(
        codes.CHANGE_NOT_CONFIRMED,
        f"{spec.address}: {_line(why)} (catalog {spec.shown}). Whether the change took effect is not known. Check the catalog (flareiac "
        "doctor) and plan again: what was done is found then, and is not done twice.",
    )


def _line(why: str) -> str:
    return " ".join(why.split())[:500]
