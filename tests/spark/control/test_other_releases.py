"""A command line and a driver of different releases read each other's files."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from flareiac.kernel.records import encode
from flareiac_spark.application import other_release
from flareiac_spark_runtime.control import (
    ControlDirectory,
    ControlError,
    Desired,
    End,
    ErrorKind,
    Lease,
    Operation,
    Result,
    Status,
)

RECORDED = Path(__file__).parent / "recorded"
FILES = {
    "desired.json": Desired,
    "status.json": Status,
    "lease.json": Lease,
    "operations/maintain-1.json": Operation,
    "operations/marks-1.json": Operation,
    "results/maintain-1.json": Result,
}
STRICT = [name for name in FILES if name.startswith("operations/")]


def control_with(root: Path, name: str, content: dict[str, Any]) -> ControlDirectory:
    control = ControlDirectory(root)
    control.prepare()
    (control.scratch / name).parent.mkdir(exist_ok=True)
    (control.scratch / name).write_text(json.dumps(content))
    return control


def read(control: ControlDirectory, name: str) -> Any:
    folder, _, file = name.rpartition("/")
    match folder:
        case "operations":
            return control.read_operation(file.removesuffix(".json"))
        case "results":
            return control.read_result(file.removesuffix(".json"))
        case _:
            return {
                "desired": control.read_desired,
                "status": control.read_status,
                "lease": control.read_lease,
            }[file.removesuffix(".json")]()


def recorded(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((RECORDED / "0.1.0" / name).read_text())
    return found


def widened(value: Any) -> Any:
    """The same with one more field in each record that has a field for it (maps by address have none)."""
    return {**value, "later": {"a": 1}}


@pytest.mark.parametrize("name", FILES)
def test_what_the_release_before_wrote_is_read(name: str, tmp_path: Path) -> None:
    content = recorded(name)
    found = read(control_with(tmp_path, name, content), name)
    assert isinstance(found, FILES[name])
    again = {key: value for key, value in content.items() if key != "version"}
    assert contains(json.loads(json.dumps(encode(found))), again)


def contains(whole: Any, part: Any) -> bool:
    """Returns True if the part is there with all its fields; this release may know more."""
    if isinstance(whole, dict) and isinstance(part, dict):
        return all(key in whole and contains(whole[key], value) for key, value in part.items())
    return bool(whole == part)


@pytest.mark.parametrize("name", [name for name in FILES if name not in STRICT])
def test_one_more_field_of_a_later_release_is_passed_over(name: str, tmp_path: Path) -> None:
    content = {**widened(recorded(name)), "release": "0.2.0"}
    for part in ("application", "place"):
        if isinstance(content.get(part), dict):
            content[part] = widened(content[part])
    known = read(control_with(tmp_path / "a", name, recorded(name)), name)
    assert read(control_with(tmp_path / "b", name, content), name) == known


@pytest.mark.parametrize("name", STRICT)
def test_work_with_one_more_field_is_refused_and_its_release_named(name: str, tmp_path: Path) -> None:
    content = {**recorded(name), "release": "0.2.0"}
    content["work"] = widened(content["work"])
    with pytest.raises(ControlError) as failure:
        read(control_with(tmp_path, name, content), name)
    assert failure.value.kind is ErrorKind.DAMAGED
    assert "FlareIaC 0.2.0 wrote it" in failure.value.why


@pytest.mark.parametrize("name", FILES)
def test_a_later_format_is_refused_by_name(name: str, tmp_path: Path) -> None:
    content = {**recorded(name), "version": 2, "release": "0.9.0"}
    with pytest.raises(ControlError) as failure:
        read(control_with(tmp_path, name, content), name)
    assert failure.value.kind is ErrorKind.FUTURE_VERSION
    assert "was written by FlareIaC 0.9.0; this release (0.1.0) reads version 1" in failure.value.why


def test_files_name_their_release_and_a_driver_of_another_one_is_told(tmp_path: Path) -> None:
    control = ControlDirectory(tmp_path)
    control.submit_operation(Operation(id="end-a", work=End(application="a")))
    assert json.loads((tmp_path / "operations" / "end-a.json").read_text())["release"] == "0.1.0"
    status = read(control_with(tmp_path, "status.json", recorded("status.json")), "status.json")
    assert other_release(status) == ""
    other = replace(status, application=replace(status.application, release="0.2.0"))
    assert other_release(other) == "the driver (process 12407 on lake-1) is FlareIaC 0.2.0"
