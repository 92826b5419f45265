"""Asks the ``terraform`` binary for values and types: one module of outputs for many expressions at once.

Terraform is an oracle: it runs where the binary is on PATH, with outputs only, so that it needs no provider
and no network.
"""

import json
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from flareiac.kernel.data import Data


class Known(NamedTuple):
    """A value as ``terraform output -json`` has it: cty's JSON form of its type, and plain data with numbers
    as ``Decimal``.
    """

    type: Data
    value: Data


class Refused(NamedTuple):
    """Terraform reports an error: the summary and the detail."""

    why: str


class Unseen(NamedTuple):
    """Terraform did not come to this expression."""


Answer = Known | Refused | Unseen


def is_there() -> bool:
    return shutil.which("terraform") is not None


def answers(expressions: Sequence[str], prelude: str, directory: Path) -> list[Answer]:
    """Terraform's answers to the expressions, in order. ``prelude``: locals and variables that they use.

    An expression that Terraform refuses takes no other with it: the rest is asked again without it.
    """
    found: dict[int, Answer] = {}
    waiting = list(range(len(expressions)))
    while waiting:
        refused = _ask(expressions, waiting, prelude, directory, found)
        if not refused:
            break
        waiting = [item for item in waiting if item not in refused]
    return [found.get(at, Unseen()) for at in range(len(expressions))]


def _ask(
    expressions: Sequence[str],
    waiting: Sequence[int],
    prelude: str,
    directory: Path,
    found: dict[int, Answer],
) -> set[int]:
    """Asks for all that are waiting; which of them were refused."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "terraform.tfstate").unlink(missing_ok=True)
    (directory / "prelude.tf").write_text(prelude, newline="")
    for old in directory.glob("e*.tf"):
        old.unlink()
    for at in waiting:
        text = f'output "o{at}" {{\n  value = [\n{expressions[at]}\n  ]\n}}\n'
        (directory / f"e{at}.tf").write_text(text, newline="")
    refused: dict[int, str] = {}
    others: list[str] = []
    for line in _terraform(directory, "apply", "-auto-approve", "-json", "-no-color", "-input=false"):
        complaint = line.get("diagnostic", {})
        if complaint.get("severity") == "error":
            why = f"{complaint['summary']}: {complaint.get('detail', '')}"
            name = complaint.get("range", {}).get("filename", "")
            at_fault = re.findall(r"output value \"o(\d+)\"", why) or re.findall(r"\Ae(\d+)\.tf\Z", name)
            others.extend([] if at_fault else [why])
            refused.update(dict.fromkeys(map(int, at_fault), why))
    if others and not refused:
        raise AssertionError(f"terraform refuses the whole module: {others}")
    found.update({at: Refused(why) for at, why in refused.items()})
    if not refused:
        outputs = json.loads(_output(directory), parse_float=Decimal, parse_int=Decimal)
        found.update({at: Known(**_described(outputs[f"o{at}"])) for at in waiting if f"o{at}" in outputs})
    return set(refused)


def _described(output: Mapping[str, Any]) -> dict[str, Data]:
    """Each output is a tuple of one, because a null output is in no state."""
    [kind], [value] = output["type"][1], output["value"]
    return {"type": kind, "value": value}


def _terraform(directory: Path, *arguments: str) -> list[dict[str, Any]]:
    done = _run(directory, *arguments)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def _output(directory: Path) -> str:
    done = _run(directory, "output", "-json", "-no-color")
    return done.stdout[done.stdout.index("{") :]


def _run(directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["terraform", *arguments], cwd=directory, capture_output=True, text=True, timeout=120, check=False
    )
