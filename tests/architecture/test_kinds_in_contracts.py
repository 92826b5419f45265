"""Each kind that users may declare is in the contracts of imports that speak of all kinds."""

import tomllib
from pathlib import Path

import pytest

from flareiac_iceberg.catalogs.kinds import KINDS as CATALOGS
from flareiac_spark_runtime.sources import KINDS as SOURCES
from tests.support.catalog_kinds import KINDS as CATALOGS_IN_TESTS

CONTRACTS = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["tool"]["importlinter"]


def _modules(contract: str) -> set[str]:
    (found,) = (each for each in CONTRACTS["contracts"] if each["id"] == contract)
    return set(found.get("modules") or found["protected_modules"])


def _catalogs() -> set[str]:
    return {kind.__module__.rpartition(".")[0] for kind in CATALOGS}


@pytest.mark.parametrize(
    ("contract", "rooms"),
    [
        ("spark-source-kinds", ["flareiac_spark"]),
        ("spark-runtime-source-kinds", ["flareiac_spark_runtime"]),
        ("spark-source-rooms", ["flareiac_spark", "flareiac_spark_runtime"]),
    ],
)
def test_contracts_of_sources_name_every_kind(contract: str, rooms: list[str]) -> None:
    assert _modules(contract) == {f"{room}.sources.{kind}" for room in rooms for kind in SOURCES}


@pytest.mark.parametrize("contract", ["iceberg-kinds", "iceberg-catalog-registry"])
def test_contracts_of_catalogs_name_every_kind(contract: str) -> None:
    assert _modules(contract) == _catalogs()


def test_every_kind_of_catalog_has_a_set_up_in_the_tests() -> None:
    """A suffix marks a kind with another place for its files."""
    assert {kind.partition("_")[0] for kind in CATALOGS_IN_TESTS} == {
        package.rpartition(".")[2] for package in _catalogs()
    }
