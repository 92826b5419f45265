"""The schemas of recorded attributes are those of the code, recorded attributes fit them, and a resource type
whose earlier states could not be read any more gets a higher version. FLAREIAC_UPDATE_GOLDEN=1 writes the
schemas where no version is missing.
"""

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from flareiac.app.discovery import installed
from flareiac.config.load import Configuration
from flareiac.kernel.data import UNKNOWN, Attributes, write_json
from flareiac.kernel.data import to_json as data_to_json
from flareiac.kernel.diagnostics import Diagnostics
from tests.formats.reading_changes import unreadable_changes
from tests.formats.recorded_resources import NOT_RECORDED, RECORDED_TYPES, RecordedType
from tests.formats.test_formats import FORMATS, check_generated
from tests.golden.case import CASES, configuration, name_of, read_case, recorded_state

RESOURCES = FORMATS / "resources"
_AGAIN = "FLAREIAC_UPDATE_GOLDEN=1 pytest tests/formats"
BY_NAME = {kind.name: kind for kind in RECORDED_TYPES}


@cache
def _validator(type_: str, part: str, *, whole: bool) -> Draft202012Validator | None:
    """``whole``: fields that are always written must be there."""
    schema = BY_NAME[type_].schema()
    if part not in schema["properties"]:
        return None
    definitions = schema["$defs"]
    if not whole:
        definitions = {name: {**each, "required": []} for name, each in definitions.items()}
    return Draft202012Validator({**schema["properties"][part], "$defs": definitions})


def check_recorded(type_: str, part: str, data: Attributes, address: str, *, whole: bool = True) -> None:
    """Fails unless the attributes or the identity of a resource fit the schema of its type."""
    written = json.loads(write_json(data_to_json(data)))
    validator = _validator(type_, part, whole=whole)
    if validator is None:
        assert written == {}, f"{address} has an {part}"
        return
    errors = [f"{address}.{error.json_path}: {error.message}" for error in validator.iter_errors(written)]
    assert errors == []


def complaint(kind: RecordedType, committed: dict[str, Any]) -> str:
    """Tells a developer who changed what a type records, and not its version, what to do; empty where all is
    well.
    """
    if kind.version < committed["version"]:
        return (
            f"The version of the type {kind.name} is {kind.version}; it was {committed['version']} already."
        )
    changes = [] if kind.version > committed["version"] else unreadable_changes(committed, kind.schema())
    if not changes:
        return ""
    changed = "\n".join(f"  {change}" for change in changes)
    return (
        f"What is recorded of the type {kind.name} changed, and its version is still {kind.version}:\n"
        f"{changed}\n"
        "A state of an earlier release is not read as it was meant. Keep the version where a field is new, "
        "and give it a default.\n"
        "Otherwise add an upgrade to `upgrades` of the type (see `flareiac/sdk/upgrades.py`), and prove in "
        "tests/compatibility that it reads an earlier state.\n"
        f"Then write the schemas again: {_AGAIN}"
    )


@pytest.mark.parametrize("kind", RECORDED_TYPES, ids=lambda kind: kind.name)
def test_a_type_with_unreadable_states_has_a_higher_version(kind: RecordedType) -> None:
    path, text = RESOURCES / f"{kind.name}.json", json.dumps(kind.schema(), indent=1) + "\n"
    committed = path.read_text(encoding="utf-8") if path.exists() else text
    if said := complaint(kind, json.loads(committed)):
        pytest.fail(said)
    if os.environ.get("FLAREIAC_UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    elif not path.exists() or committed != text:
        pytest.fail(f"{path.name} is not the schema of what this release records. Write it again: {_AGAIN}")


def test_each_installed_type_has_a_schema_or_a_reason() -> None:
    assert not BY_NAME.keys() & NOT_RECORDED.keys()
    assert set(installed().registry.types) == BY_NAME.keys() | NOT_RECORDED.keys()
    assert {path.stem for path in RESOURCES.glob("*.json")} == BY_NAME.keys()


def test_the_page_lists_the_types() -> None:
    rows = "".join(
        f"| [{kind.name}](resources/{kind.name}.json) | {kind.version} |\n" for kind in RECORDED_TYPES
    )
    check_generated("resources", f"| type | version |\n|---|---|\n{rows}")


@pytest.mark.parametrize("kind", RECORDED_TYPES, ids=lambda kind: kind.name)
def test_a_schema_is_one(kind: RecordedType) -> None:
    Draft202012Validator.check_schema(kind.schema())


@pytest.mark.parametrize("path", CASES, ids=name_of)
def test_what_cases_declare_and_record_fits(path: Path, tmp_path: Path) -> None:
    """Connections and streams fit, too: they are recorded with what refers to them."""
    case = read_case(path)
    for text in filter(None, (case.recorded, case.main)):
        for address, type_, attributes in _declared(
            configuration(text, tmp_path, Diagnostics(), case.data_blocks())
        ):
            check_recorded(type_, "attributes", attributes, address)
    for address, record in recorded_state(case, tmp_path).resources.items():
        check_recorded(record.type, "attributes", record.attributes, address)
        # The doubles of the world report parts of identities.
        check_recorded(record.type, "identity", record.identity, address, whole=False)


def _declared(found: Configuration) -> list[tuple[str, str, Attributes]]:
    return [
        (address, item.address.type, item.attributes)
        for address, item in found.desired.resources.items()
        if item.address.type in BY_NAME and not _has_unknown(item.attributes)
    ]


def _has_unknown(value: Any) -> bool:
    """A value that is unknown while planning is never recorded."""
    match value:
        case dict():
            return any(map(_has_unknown, value.values()))
        case list() | tuple():
            return any(map(_has_unknown, value))
        case _:
            return value is UNKNOWN
