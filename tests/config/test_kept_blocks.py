"""Blocks that are kept from run to run do not change the meaning of a configuration."""

import dataclasses
import json
import os
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flareiac.config import kept_blocks
from flareiac.config.kept_blocks import KeptBlocks, Meaning
from flareiac.config.load import Configuration
from flareiac.kernel import user_cache
from flareiac.kernel.diagnostics import Diagnostic, Diagnostics
from flareiac.kernel.sources import Source
from flareiac.lang.parse import parse_file
from flareiac_iceberg.table.canonical import canonical
from tests.golden.case import CASES, Case, configuration, name_of, read_case

TABLE = 'table "{0}" {{\n  {1}\n  namespace = "n"\n  column "id" {{ type = "long" }}\n}}\n'
POOL = [
    'catalog "a" {\n  uri = "sqlite:///a.db"\n  warehouse = "wa"\n}\n',
    'catalog "a" {\n  uri = "sqlite:///other.db"\n  warehouse = "wa"\n}\n',
    'catalog "b" {\n  uri = "sqlite:///b.db"\n  warehouse = "wb"\n}\n',
    'namespace "n" {\n  catalog = catalog.a\n}\n',
    'namespace "n" {\n  catalog = catalog.a\n  name = "renamed"\n}\n',
    'variable "v" {\n  default = "x"\n}\n',
    TABLE.format("plain", ""),
    TABLE.format("plain", 'comment = "two"'),
    TABLE.format("named", "catalog = catalog.a"),
    TABLE.format("named", "catalog = catalog.b"),
    TABLE.format("placed", "").replace('"n"', "namespace.n"),
    TABLE.format("placed", 'location = "../elsewhere"').replace('"n"', "namespace.n"),
    TABLE.format("by_variable", "comment = var.v"),
    TABLE.format("repeated", 'for_each = { k = "v" }\n  comment = each.value'),
    TABLE.format("repeated", 'name = "once"'),
    TABLE.format("partitioned", 'partition_by = [bucket(4, "id")]'),
    TABLE.format("partitioned", 'partition_by = [bucket(-4, "id")]'),
    TABLE.format("kept_alive", "lifecycle {\n    prevent_destroy = true\n  }"),
    TABLE.format("after", "depends_on = [table.plain]"),
    TABLE.format("after", "depends_on = [table.nowhere]"),
    TABLE.format("after", 'depends_on = ["table.plain"]'),
    TABLE.format("after", "depends_on = []"),
    TABLE.format("plain", "depends_on = table.named"),
    TABLE.format("kept_alive", "lifecycle {\n    prevent_destroy = var.v\n  }"),
    TABLE.format("kept_alive", "lifecycle {\n    ignore_changes = [nothing]\n  }"),
    TABLE.format("calling", 'comment = upper("x")'),
    TABLE.format("wrong", 'no_such = "x"'),
    'flareiac {\n  owner = "a"\n}\n',
    'flareiac {\n  owner = { name = var.v, contact = "#v" }\n}\n',
    TABLE.format("plain", 'owner = "x"'),
    TABLE.format("plain", 'owner = { name = "x", contact = "y" }'),
    TABLE.format("plain", 'owner = ""'),
    TABLE.format("by_variable", "owner = var.v"),
    TABLE.format("repeated", 'for_each = { k = "v" }\n  owner = each.value'),
    'consumer "c" {\n  reads = [table.plain]\n  columns = ["id", "gone"]\n}\n',
    'consumer "c" {\n  owner = "outside"\n  reads = [table.plain]\n}\n',
]


def loaded(text: str, root: Path, case: Case | None = None) -> tuple[Configuration, list[Diagnostic]]:
    diagnostics = Diagnostics()
    found = configuration(text, root, diagnostics, case.data_blocks() if case else None)
    return found, list(diagnostics)


def said(text: str, root: Path, case: Case | None = None) -> object:
    """Everything that a configuration says, with the place of each part."""
    found, diagnostics = loaded(text, root, case)
    spans = {address: dict(item.spans) for address, item in found.desired.resources.items()}
    # Functions are not comparable; data blocks, which have them, are never kept
    resources = {
        address: dataclasses.replace(item, members={}) for address, item in found.desired.resources.items()
    }
    return dataclasses.replace(found.desired, resources=resources), spans, diagnostics


def without_cache(text: str, root: Path, monkeypatch: pytest.MonkeyPatch, case: Case | None = None) -> object:
    with monkeypatch.context() as patch:
        patch.setattr(user_cache, "read", lambda _name: None)
        patch.setattr(user_cache, "keep", lambda _name, _content: None)
        return said(text, root, case)


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """The addresses whose meaning was taken over; the cache is empty at first."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    found: list[str] = []
    find = KeptBlocks.find

    def noted(kept: KeptBlocks, *arguments: object) -> object:
        meaning = find(kept, *arguments)  # type: ignore[arg-type] # as it was called
        if meaning is not None:
            found.append(str(arguments[1]))
        return meaning

    monkeypatch.setattr(KeptBlocks, "find", noted)
    return found


@pytest.mark.parametrize("path", CASES, ids=name_of)
def test_a_configuration_says_the_same_from_what_is_kept(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In each golden case the declared, recorded and observed texts are read with the same cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    case = read_case(path)
    for text in (case.recorded, case.observed, case.main, case.main):
        if text is not None:
            assert said(text, tmp_path, case) == without_cache(text, tmp_path, monkeypatch, case)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.lists(st.sampled_from(POOL), max_size=9, unique_by=lambda text: text.split("{")[0]),
        min_size=2,
        max_size=5,
    )
)
def test_so_it_does_through_random_edits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, used: list[str], edits: Sequence[Sequence[str]]
) -> None:
    del used
    for blocks in edits:
        text = "".join(blocks)
        assert said(text, tmp_path) == without_cache(text, tmp_path, monkeypatch)


def test_plain_blocks_are_taken_over_and_others_are_not(tmp_path: Path, used: list[str]) -> None:
    text = "".join({block.split("{")[0]: block for block in reversed(POOL)}.values())
    loaded(text, tmp_path)
    assert used == []
    loaded(text, tmp_path)
    assert set(used) == {"table.named", "table.placed"}, (
        "of several catalogs none is chosen, so that the other tables are in error"
    )
    used.clear()
    alone = text.replace(POOL[2], "")
    for _ in range(2):
        loaded(alone, tmp_path)
    assert {"table.plain", "table.partitioned", "table.kept_alive"} <= set(used)
    assert not {"table.by_variable", "table.calling", "table.wrong"} & set(used)


def test_other_code_takes_nothing_over(
    tmp_path: Path, used: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = POOL[0] + POOL[6]
    for _ in range(2):
        loaded(text, tmp_path)
    assert used == ["table.plain"]
    stamps = kept_blocks._stamps
    monkeypatch.setattr(kept_blocks, "_stamps", lambda folder: [*stamps(folder), ["new.py", 1, 1]])
    loaded(text, tmp_path)
    assert used == ["table.plain"]


@pytest.mark.parametrize("damage", [b"", b"\n", b"0" * 64 + b"\n{}", b"{}"], ids=repr)
def test_what_is_damaged_is_not_there(tmp_path: Path, used: list[str], damage: bytes) -> None:
    text = POOL[0] + POOL[6]
    loaded(text, tmp_path)
    (file,) = (tmp_path / "cache").glob("flareiac/blocks/*")
    file.write_bytes(damage)
    loaded(text, tmp_path)
    assert used == []
    loaded(text, tmp_path)
    assert used == ["table.plain"]


@pytest.mark.parametrize(
    "meaning", [None, [], {}, {"start": 1}, {"start": [], "plain": {}, "marked": {}, "order": ["x"]}], ids=str
)
def test_an_entry_of_another_shape_is_not_there(tmp_path: Path, used: list[str], meaning: object) -> None:
    text = POOL[0] + POOL[6]
    loaded(text, tmp_path)
    (file,) = (tmp_path / "cache").glob("flareiac/blocks/*")
    name = os.fspath(file.relative_to(tmp_path / "cache" / "flareiac"))
    entries = user_cache.read_json(name)
    user_cache.keep_json(
        name,
        {key: json.dumps({**json.loads(entry), "meaning": meaning}) for key, entry in entries.items()},
    )
    loaded(text, tmp_path)
    assert used == []


def test_what_json_does_not_say_is_not_kept(tmp_path: Path, used: list[str]) -> None:
    del used
    block = parse_file(Source("x", POOL[6]), Diagnostics()).blocks[0]
    kept = KeptBlocks(tmp_path)

    def seen(_kind: str, _start: tuple[str, ...]) -> str:
        return "seen"

    for value in (Decimal("1.5"), (1, 2), {1: "one"}):
        kept.add(
            block,
            "table.plain",
            canonical,
            Meaning(start=(), attributes={"value": value}, dependencies=()),
            seen,
        )
        assert kept.find(block, "table.plain", canonical, seen) is None
    kept.close()
    assert KeptBlocks(tmp_path).find(block, "table.plain", canonical, seen) is None


def test_code_in_an_archive_is_known_by_the_archive(tmp_path: Path) -> None:
    archive = tmp_path / "program.zip"
    archive.write_bytes(b"one")
    inside = str(archive / "package" / "module.py")
    before = list(kept_blocks._stamps(inside))
    assert before == list(kept_blocks._stamps(inside))
    archive.write_bytes(b"another")
    assert before != list(kept_blocks._stamps(inside))
