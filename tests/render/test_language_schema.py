"""The JSON schema of the language takes each configuration that ``validate`` takes, and refuses names that
there are not.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pytest
from jsonschema import Draft202012Validator

from flareiac.app.discovery import installed
from flareiac.kernel.data import write_json
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.render.language_schema import language_schema
from flareiac.sdk.schema import Block, Nesting
from tests.docs.pages import DOCS
from tests.golden.case import CASES, configuration, name_of, read_case, root_module
from tests.support.json_form import json_form

SCHEMA: Final[Any] = language_schema(installed().registry)
FILE: Final = DOCS / "formats" / "printed" / "language.json"
VALIDATOR: Final = Draft202012Validator(SCHEMA)
EXAMPLES: Final = sorted((DOCS.parents[1] / "examples").rglob("*.flare.hcl"))


def complaints(document: Any) -> list[str]:
    return [f"{error.json_path}: {error.message:.300}" for error in VALIDATOR.iter_errors(document)]


def test_it_is_a_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)


def test_the_package_holds_what_the_program_prints() -> None:
    """The file is that of the providers which come with FlareIaC."""
    text = write_json(SCHEMA, indent=1) + "\n"
    if os.environ.get("FLAREIAC_UPDATE_GOLDEN"):
        FILE.write_text(text, encoding="utf-8")
    assert FILE.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("path", EXAMPLES, ids=str)
def test_examples_fit(path: Path) -> None:
    assert complaints(json_form(path.read_text(encoding="utf-8"))) == []


def test_configurations_of_golden_cases_fit(tmp_path: Path) -> None:
    seen = 0
    for case in CASES:
        content, diagnostics = read_case(case), Diagnostics()
        configuration(content.main, tmp_path, diagnostics, content.data_blocks())
        if not diagnostics.has_errors:
            seen += 1
            assert complaints(json_form(root_module(content.main))) == [], name_of(case)
    assert seen > len(CASES) / 2


def _documents() -> Iterator[dict[str, Any]]:
    yield json_form(_OWN)
    for path in EXAMPLES:
        yield json_form(path.read_text(encoding="utf-8"))
    for case in CASES:
        with suppress(ValueError):
            yield json_form(root_module(read_case(case).main))


_OWN = """
flareiac {
  owner = "team"
  backend "s3" { bucket = "b" }
  backend "postgresql" {}
  backend "local" {}
  encryption {
    env = "A"
    fallback { env = "B" }
  }
  drift_ignore {
    address = "table.*"
    reason  = "known"
  }
  workspace "prod*" { protected = true }
}
variable "v" {
  type = string
  validation {
    condition     = true
    error_message = "no"
  }
}
output "o" {
  value = 1
  precondition {
    condition     = true
    error_message = "no"
  }
}
import {
  to = table.t
  id = "lake.n.t"
}
removed {
  from = table.u
  lifecycle { destroy = true }
}
policy "p" {
  rule "r" {
    use = "owner_required"
    exception {
      reason  = "later"
      expires = "2027-03-31"
    }
  }
}
table "t" {
  namespace = "n"
  column "id" { type = "long" }
  delete_rewrite {}
  lifecycle { prevent_destroy = true }
}
job "j" {
  checkpoint = checkpoint.c
  input "i" {
    files {
      format = "json"
      path   = "in"
      column "id" { type = "long" }
    }
  }
  output "o" { table = table.t }
}
data "table" "d" {
  namespace = "n"
  name      = "d"
  lifecycle {
    enabled = true
    precondition {
      condition     = 1 == 1
      error_message = "No."
    }
    postcondition {
      condition     = self.name == "d"
      error_message = "No."
    }
  }
}
"""
"""Blocks that no golden case has."""


def _definition(schema: Mapping[str, Any]) -> str | None:
    """The path of the body that a block holds, whether it has labels or not."""
    while "else" in schema or "additionalProperties" in schema:
        following = schema.get("else", schema.get("additionalProperties"))
        if not isinstance(following, dict):
            return None
        schema = following
    reference = schema.get("$ref")
    return reference.removeprefix("#/$defs/") if isinstance(reference, str) else None


def _bodies(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each body of a document, with the path of its definition."""
    yield from _inside(SCHEMA["properties"], document)
    for kind, named in document.get("data", {}).items():
        yield from _inside({kind: _data()[kind]}, {kind: named})


def _data() -> dict[str, Any]:
    content: dict[str, Any] = SCHEMA["properties"]["data"]["else"]["properties"]
    return content


def _inside(properties: Any, body: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, value in body.items():
        schema = properties.get(name)
        if name == "backend" and isinstance(value, dict):
            for kind, bodies in value.items():
                yield from ((f"flareiac.backend.{kind}", each) for each in bodies)
        elif isinstance(schema, dict) and (path := _definition(schema)) in SCHEMA["$defs"]:
            for each in _innermost(value):
                yield str(path), each
                yield from _inside(SCHEMA["$defs"][path]["properties"], each)


def _innermost(value: Any) -> Iterator[dict[str, Any]]:
    """The bodies below labels: the JSON form that these tests make has each in an array."""
    if isinstance(value, list):
        yield from (each for each in value if isinstance(each, dict))
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _innermost(inner)


def test_what_is_planted_in_any_body_does_not_fit() -> None:
    """In each body of the language: an attribute and a block that there are not, and one required attribute
    or block less.
    """
    paths = {path for path in SCHEMA["$defs"] if path not in ("template", "given")}
    seen: set[str] = set()
    missed: set[tuple[str, str]] = set()
    for document in _documents():
        for path, body in _bodies(document):
            if path in seen or complaints(document):
                continue
            seen.add(path)
            wrong = [({**body, "colour_of": 1}, "an attribute"), ({**body, "colour": [{"of": 1}]}, "a block")]
            if path in ("locals", "module"):  # any name may be one that the user has chosen
                wrong = []
            wrong += [
                ({name: value for name, value in body.items() if name != gone}, gone)
                for gone in SCHEMA["$defs"][path].get("required", ())
            ]
            whole = dict(body)
            for other, what in wrong:
                body.clear()
                body.update(other)
                if not complaints(document):
                    missed.add((path, what))
            body.clear()
            body.update(whole)
    assert missed == set()
    assert paths - seen == set(), "no example and no golden case has such a block"


@pytest.mark.parametrize(
    ("planted", "place"),
    [
        ({"table": {"t": {"colum": {"id": {"type": "long"}}}}}, "$.table.t"),
        ({"tabel": {}}, "$"),
        ({"table": {"1 t": {"namespace": "n"}}}, "$.table"),
        ({"table": {"t": {"namespace": "n", "on_destroy": "burn"}}}, "$.table.t.on_destroy"),
        ({"flareiac": {"backend": {"floppy": {}}}}, "$.flareiac.backend"),
        ({"flareiac": {"backend": {"s3": {"bukket": "b"}}}}, "$.flareiac.backend.s3"),
        ({"table": {"t": {"namespace": "n", "format_version": "two"}}}, "$.table.t.format_version"),
    ],
)
def test_wrong_names_and_values_are_found_at_their_place(planted: Any, place: str) -> None:
    assert any(text.startswith(f"{place}: ") for text in complaints(planted)), complaints(planted)


def test_a_dynamic_block_has_the_content_of_its_block() -> None:
    column = {"for_each": "${var.columns}", "labels": ["${column.key}"], "content": {"type": "long"}}
    document = {"table": {"t": {"namespace": "n", "dynamic": {"column": column}}}}
    assert complaints(document) == []
    column["content"] = {"tipe": "long"}
    assert complaints(document)


def test_each_block_of_a_type_is_in_the_schema() -> None:
    """Every attribute and block of every installed type, at every depth."""
    for name, kind in installed().registry.types.items():
        for path, block in _blocks(name, kind.schema):
            properties = SCHEMA["$defs"][path]["properties"]
            assert {*block.attributes, *block.blocks} <= properties.keys()
            described = {key: properties[key].get("description", "") for key in block.attributes}
            lost = [key for key, each in block.attributes.items() if each.description not in described[key]]
            assert lost == [], path


def _blocks(path: str, block: Block) -> Iterator[tuple[str, Block]]:
    yield path, block
    for name, nested in block.blocks.items():
        assert nested.nesting in Nesting
        yield from _blocks(f"{path}.{name}", nested.block)
