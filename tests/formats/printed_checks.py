"""Checks that a document which a command printed fits its schema."""

import json
from collections.abc import Iterable
from typing import Any, Final

from jsonschema import Draft202012Validator

from tests.formats.documents import PRINTED

_VALIDATORS: Final = {document.name: Draft202012Validator(document.schema()) for document in PRINTED}


def check_printed(name: str, content: str | dict[str, Any] | list[Any]) -> None:
    """Fails unless a document fits the schema of that name; a text holds one document."""
    data = json.loads(content) if isinstance(content, str) else content
    wrong = [f"{error.json_path}: {error.message:.300}" for error in _VALIDATORS[name].iter_errors(data)]
    assert wrong == [], wrong


def check_lines(name: str, lines: str | Iterable[object]) -> None:
    """Fails unless each line fits the schema of that name."""
    listed = [json.loads(line) for line in lines.splitlines()] if isinstance(lines, str) else list(lines)
    assert listed
    for line in listed:
        check_printed(name, json.loads(json.dumps(line)))
