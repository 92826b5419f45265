"""The catalogs that exist or not together: those that one file or one database keeps."""

from pathlib import Path
from typing import Any

import pytest

from flareiac.app.discovery import installed
from flareiac.model.references import connections_in_use
from flareiac.model.snapshot import ResourceRecord, Snapshot
from flareiac.sdk.project import Project
from flareiac.sdk.references import Resolved
from flareiac_iceberg.catalogs.kinds import home_of

SQLITE = {"type": "sql", "name": "lake", "uri": "sqlite:////lake/catalog.db", "warehouse": "file:///lake"}
POSTGRES = SQLITE | {"uri": "postgresql://me@db:5432/lake"}
REST = SQLITE | {"type": "rest", "uri": "https://lake.example", "place": "https://lake.example#one#"}


@pytest.mark.parametrize(
    ("catalog", "other", "together"),
    [
        (SQLITE, {"name": "pond"}, True),
        (SQLITE, {"warehouse": "file:///elsewhere"}, True),
        (SQLITE, {"uri": "sqlite:////lake/other.db"}, False),
        (POSTGRES, {"name": "pond"}, True),
        (POSTGRES, {"uri": "postgresql://you@db:5432/lake?sslmode=require"}, True),
        (POSTGRES, {"uri": "postgresql://me@db:5432/pond"}, False),
        (POSTGRES, {"uri": "postgresql://me@db2:5432/lake"}, False),
        (REST, {"token": "env:TOKEN"}, True),
        (REST, {"place": "https://lake.example#two#"}, False),
    ],
)
def test_homes(catalog: dict[str, Any], other: dict[str, Any], together: bool) -> None:
    assert (home_of(catalog) == home_of(catalog | other)) is together


def test_who_is_in_use_is_known_by_the_home(tmp_path: Path) -> None:
    def block(name: str, **other: str) -> Resolved:
        address = f"catalog.{name}"
        return Resolved(address=address, type="catalog", attributes=SQLITE | {"name": name, **other})

    def record(name: str, *catalogs: Resolved) -> ResourceRecord:
        resolved = {item.address: item.attributes for item in catalogs}
        return ResourceRecord(
            address=name, type="table", provider="iceberg", attributes={}, resolved=resolved
        )

    was, linked = block("was"), block("linked", uri="sqlite:////link/catalog.db")
    other, engine = (
        block("other", uri="sqlite:////other.db"),
        Resolved(address="engine.local", type="engine", attributes={}),
    )
    snapshot = Snapshot(lineage="l", resources={f"table.t{n}": record(f"table.t{n}", was) for n in range(3)})
    project = Project(root=tmp_path, resolve=lambda place: place.replace("/link/", "/lake/"))
    declared = {item.address: item for item in (block("again"), linked, other, engine)}
    types = installed().registry.types
    assert connections_in_use(declared, snapshot, types, project) == {"catalog.again", "catalog.linked"}
    assert connections_in_use(declared, Snapshot(lineage="l"), types, project) == set()
