"""Entry points of installed packages: each name stands for one thing."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from flareiac.app.state_place.backends import state_backend
from flareiac.kernel.diagnostics import Failure
from flareiac.sdk import brokers, table_tasks
from flareiac.sdk.plug_ins import plug_in


@pytest.fixture(autouse=True)
def _not_remembered() -> Iterator[None]:
    def forget() -> None:
        brokers.reader_of.cache_clear()
        table_tasks.performer_of.cache_clear()
        state_backend.cache_clear()

    forget()
    yield
    forget()


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def install(packages: Path, name: str, group: str, declared: str) -> None:
    folder = packages / f"{name}-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    (folder / "entry_points.txt").write_text(f"[{group}]\n{declared}\n", encoding="utf-8")


def test_a_name_that_no_package_offers() -> None:
    assert plug_in("flareiac.brokers", "carrier_pigeon") is None


def test_one_package_offers_it(packages: Path) -> None:
    install(packages, "one", "flareiac.brokers", "pigeon = json:dumps")
    install(packages, "other", "flareiac.brokers", "parrot = json:loads")
    assert plug_in("flareiac.brokers", "pigeon") is json.dumps


def test_the_same_thing_declared_twice_is_one(packages: Path) -> None:
    """As after the package that declares it has got another name."""
    for name in ("before", "after"):
        install(packages, name, "flareiac.brokers", "pigeon = json:dumps")
    assert brokers.reader_of("pigeon") is not None


def test_two_packages_offer_it(packages: Path) -> None:
    install(packages, "one", "flareiac.brokers", "pigeon = json:dumps")
    install(packages, "other", "flareiac.brokers", "pigeon = json:loads")
    with pytest.raises(Failure) as failed:
        brokers.reader_of("pigeon")
    (refusal,) = failed.value.diagnostics
    assert refusal.code == "FIX010"
    assert "json:dumps of one and json:loads of other" in refusal.detail
    assert "Uninstall one" in refusal.detail


def test_another_package_offers_what_is_built_in(packages: Path) -> None:
    install(packages, "forge", "flareiac.table_tasks", "rewrite_manifests = json:dumps")
    install(packages, "vault", "flareiac.state_backends", "local = json:dumps")
    with pytest.raises(Failure, match="same name"):
        table_tasks.performer_of("rewrite_manifests")
    with pytest.raises(Failure, match="same name"):
        state_backend("local")


@pytest.mark.parametrize("name", ["local", "postgresql", "s3"])
def test_a_state_backend_of_this_package_opens(name: str) -> None:
    backend = state_backend(name)
    assert backend is not None
    assert backend.name == name
