"""A project on each kind of catalog, with the servers that it needs."""

import uuid
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from pyiceberg.catalog import Catalog
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import Table
from sqlalchemy.engine import URL

from flareiac.kernel.data import Reference
from flareiac.sdk.references import Resolved
from flareiac.sdk.secrets import reference
from flareiac_iceberg.catalogs.base import CatalogSpec
from flareiac_iceberg.catalogs.kinds import spec_of
from flareiac_iceberg.catalogs.library_settings import library_settings
from flareiac_iceberg.catalogs.library_writer import LibraryWriter
from flareiac_iceberg.catalogs.opening import writer_of
from flareiac_iceberg.catalogs.postgres.spec import PostgresCatalog
from flareiac_iceberg.catalogs.reader import tables_in
from flareiac_iceberg.catalogs.sqlite.spec import SqliteCatalog
from tests.iceberg.lake import CATALOG, Lake
from tests.support.moto_server import KEYS, aws_keys, make_bucket, moto_server
from tests.support.postgres import PASSWORD, postgres
from tests.support.rest_server import rest_server

KINDS: Final = ("sqlite", "postgres", "postgres_s3", "glue", "rest")
VARIABLES: Final = {
    "LAKE_PASSWORD": PASSWORD,
    "LAKE_KEY": KEYS["AWS_SECRET_ACCESS_KEY"],
    "LAKE_TOKEN": "any token",
    "LAKE_LOGIN": "me:a login&secret",
}
SECRETS: Final = {
    f"secret.{name.lower()}": Resolved(
        address=f"secret.{name.lower()}",
        type="secret",
        attributes={"env": name, "reference": reference("env", name)},
    )
    for name in VARIABLES
}


class KindLake(Lake):
    """A project whose catalog may be of any kind. ``namespace`` is used by no other: a server may serve many
    tests.
    """

    namespace: str

    @property
    def spec(self) -> CatalogSpec:
        return spec_of(CATALOG, self.references[CATALOG].attributes)

    @contextmanager
    def opened(self) -> Iterator[Catalog]:
        """The catalog as Iceberg's own library opens it."""
        catalog = _by_the_library(self.spec)
        try:
            yield catalog
        finally:
            catalog.close()

    def table(self, name: str) -> Table:
        with self.opened() as catalog:
            return catalog.load_table(name)

    def names(self, namespace: str) -> list[str]:
        return sorted(tables_in(self.spec, namespace))


def _by_the_library(spec: CatalogSpec) -> Catalog:
    files = library_settings(spec) | {"warehouse": spec.warehouse}
    if isinstance(spec, SqliteCatalog):
        spec.database.parent.mkdir(parents=True, exist_ok=True)
        return SqlCatalog(spec.name, **files, uri=f"sqlite:///{spec.database}?timeout=15")
    if isinstance(spec, PostgresCatalog):
        place = URL.create("postgresql+psycopg2", spec.user, PASSWORD, spec.host, spec.port, spec.database)
        return SqlCatalog(spec.name, **files, uri=place.render_as_string(hide_password=False))
    writer = writer_of(spec)
    assert isinstance(writer, LibraryWriter)
    catalog: Catalog = writer.catalog
    return catalog


class Servers:
    """Starts what is asked for, once; ends with the session."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._stack = ExitStack()
        self._known: dict[str, Any] = {}

    def close(self) -> None:
        self._stack.close()

    def postgres(self) -> Any:
        return self._once("postgres", lambda: postgres(self._directory / "postgres"))

    def aws(self) -> str:
        found: str = self._once("aws", moto_server)
        return found

    def rest(self, java_home: Path) -> str:
        found: str = self._once("rest", lambda: rest_server(self._directory / "rest", java_home))
        return found

    def _once(self, name: str, start: Any) -> Any:
        if name not in self._known:
            self._known[name] = self._stack.enter_context(start())
        return self._known[name]


def body(kind: str, servers: Servers, request: pytest.FixtureRequest) -> dict[str, Any]:
    """The catalog block of a fresh catalog of a kind."""
    fresh = uuid.uuid4().hex[:12]
    match kind:
        case "sqlite":
            return {}
        case "postgres":
            return {"uri": servers.postgres().create(fresh), "credential": Reference("secret.lake_password")}
        case "postgres_s3":
            return body("postgres", servers, request) | s3(servers.aws(), fresh)
        case "glue":
            files = s3(servers.aws(), fresh)
            files["properties"] |= {"glue.endpoint": servers.aws()}
            return {"type": "glue", **files}
        case "rest":
            return {
                "type": "rest",
                "uri": servers.rest(request.getfixturevalue("java_home")),
                "credential": Reference("secret.lake_login"),
            }
        case _:
            raise AssertionError(f"no set-up for a catalog of kind {kind}")


def s3(endpoint: str, bucket: str) -> dict[str, Any]:
    """A warehouse in a bucket of its own."""
    make_bucket(endpoint, bucket)
    properties: Mapping[str, Any] = {
        "s3.endpoint": endpoint,
        "s3.region": "us-east-1",
        "s3.access-key-id": KEYS["AWS_ACCESS_KEY_ID"],
        "s3.secret-access-key": Reference("secret.lake_key"),
    }
    return {"warehouse": f"s3://{bucket}/lake", "properties": dict(properties)}


@contextmanager
def kind_lake(
    kind: str, root: Path, servers: Servers, request: pytest.FixtureRequest, name: str = "lake"
) -> Iterator[KindLake]:
    """A project on a fresh catalog of a kind, with the variables that its secrets are in."""
    with pytest.MonkeyPatch.context() as patch, aws_keys():
        for variable, value in VARIABLES.items():
            patch.setenv(variable, value)
        lake = KindLake(root, {"name": name, **body(kind, servers, request)}, SECRETS)
        lake.namespace = f"n_{uuid.uuid4().hex[:8]}"
        try:
            yield lake
        finally:
            lake.close()
