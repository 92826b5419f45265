"""A document of any depth ends every reader of files and answers in its own failure, never in Python's."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from flareiac.kernel.data import DEEPEST, DEEPEST_STORED, parse_json, read_json
from flareiac.kernel.diagnostics import Failure
from flareiac_iceberg.catalogs.metadata_files import load
from flareiac_spark_runtime.checkpoint_log import Damaged, any_json
from flareiac_spark_runtime.control import ControlDirectory, ControlError
from tests.support.command_line import flareiac

DEPTHS: Final = (DEEPEST + 1, 300, 480, 900, 990, 5_000, 200_000)
SHAPES: Final = (("[", "1", "]"), ('{"a":', "1", "}"), ('[{"a":', "1", "}]"), ('{"a":[1,', "1", "]}"))


def nested(depth: int, shape: tuple[str, str, str]) -> str:
    first, middle, last = shape
    times = depth // first.replace('"a"', "").count("[") if shape[0].count("[{") else depth
    return first * times + middle + last * times


@pytest.mark.parametrize("shape", SHAPES)
def test_the_bound_is_the_same_at_any_depth_of_the_caller(shape: tuple[str, str, str]) -> None:
    for parse, deepest in ((parse_json, DEEPEST), (read_json, DEEPEST_STORED)):
        for depth in (deepest + 1, *(depth for depth in DEPTHS if depth > deepest)):
            with pytest.raises(ValueError, match="nested more than"):
                parse(nested(depth, shape))
    shallow = nested(DEEPEST // 2 - 1, shape)
    assert parse_json(shallow) == json.loads(shallow)


@pytest.mark.parametrize("depth", DEPTHS)
def test_files_of_a_control_directory_are_called_damaged(tmp_path: Path, depth: int) -> None:
    control = ControlDirectory(tmp_path)
    control.prepare()
    readers: dict[str, Any] = {
        "desired.json": control.read_desired,
        "status.json": control.read_status,
        "lease.json": control.read_lease,
        "refused-start.json": control.read_refused_start,
        "operations/one.json": lambda: control.read_operation("one"),
        "results/one.json": lambda: control.read_result("one"),
    }
    for shape in SHAPES:
        for name, read in readers.items():
            (tmp_path / name).write_text(f'{{"version": 1, "jobs": {nested(depth, shape)}}}')
            with pytest.raises(ControlError, match="nested more than"):
                read()
        with pytest.raises(Damaged, match="nested more than"):
            any_json(nested(depth, shape), tmp_path)
        metadata = tmp_path / "00000-x.metadata.json"
        metadata.write_text(f'{{"format-version": 2, "schemas": {nested(depth, shape)}}}')
        with pytest.raises(Failure, match="nested more than"):
            load(f"file://{metadata}")


@pytest.mark.parametrize("depth", [DEEPEST + 1, 500, 200_000])
def test_commands_name_the_file(tmp_path: Path, depth: int) -> None:
    (tmp_path / "main.flare.hcl").write_text(
        'catalog "lake" {}\ntable "t" {\n  namespace = "n"\n  column "id" { type = "long" }\n}\n'
    )
    assert flareiac(tmp_path, "apply", "-auto-approve").code == 0
    (state,) = (tmp_path / ".flareiac").rglob("snapshot.json")
    whole = state.read_text()
    for shape in SHAPES:
        state.write_text(nested(depth, shape))
        for command in (("plan",), ("state", "list"), ("show",), ("drift", "-json")):
            ended = flareiac(tmp_path, *command)
            assert "RecursionError" not in ended.text
            assert "FIX099" not in ended.text
            assert ended.code != 0, (command, ended.text)
    state.write_text(whole)
    assert flareiac(tmp_path, "plan").code == 0


_HALVES: Final = (
    b'{"a": "\\ud800"}',
    b'["\\udc00x"]',
    b'{"\\ud83d": 1}',
    b'"\xed\xa0\x80"',
    b'"\\ud800\\u0041"',
    '"\ud800"',
)


@pytest.mark.parametrize("text", _HALVES)
def test_half_a_character_is_no_text_of_a_document(text: bytes | str) -> None:
    for parse in (parse_json, read_json):
        with pytest.raises(ValueError, match=r"half a character|can't decode"):
            parse(text)


def test_characters_that_are_spelled_in_two_halves_are_whole() -> None:
    assert parse_json(b'{"\\ud83d\\ude00": "\\\\ud800 \xf0\x9f\x98\x80"}') == {"😀": "\\ud800 😀"}


@pytest.mark.parametrize("number", ["1e999", "-1e400", "NaN", "Infinity", "-Infinity"])
def test_a_number_that_no_float_holds_is_no_number_of_a_document(number: str) -> None:
    for parse in (parse_json, read_json):
        with pytest.raises(ValueError, match="number"):
            parse(f'{{"a": [{number}]}}')
