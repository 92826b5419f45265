"""The registry opens every kind of catalog by its own reader and writer."""

from typing import Any

import pytest

from flareiac.sdk.definitions import definition_of
from flareiac_iceberg.catalogs.base import CatalogSpec
from flareiac_iceberg.catalogs.block import CatalogDefinition
from flareiac_iceberg.catalogs.kinds import KINDS
from flareiac_iceberg.catalogs.opening import reader_of, writer_of
from flareiac_iceberg.catalogs.writer import CatalogWriter

URIS = {"postgres": "postgresql://me@localhost:5432/lake", "sqlite": "sqlite:////lake/catalog.db"}


def _package(kind: type) -> str:
    return kind.__module__.rpartition(".")[0]


def _spec(kind: type[CatalogSpec]) -> CatalogSpec:
    uri = URIS.get(_package(kind).rpartition(".")[2], "http://localhost:8181")
    recorded = {"type": kind.type, "name": "x", "uri": uri, "warehouse": "s3://b/w", "place": uri}
    return kind.of("catalog.x", definition_of(CatalogDefinition, recorded | {"properties": {}}))


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_has_a_reader_and_a_writer_of_its_own(
    kind: type[CatalogSpec], monkeypatch: pytest.MonkeyPatch
) -> None:
    def unopened(writer: CatalogWriter[Any], spec: CatalogSpec) -> None:
        writer.spec = spec

    monkeypatch.setattr(CatalogWriter, "__init__", unopened)
    spec = _spec(kind)
    assert _package(type(reader_of(spec))) == _package(kind)
    writer = writer_of(spec)
    assert _package(type(writer)) == _package(kind)
    assert writer.spec is spec
