"""Numbers keep all of their digits on the way from one project to another, through every backend, plan and
output; Terraform has the same numbers in the same places.
"""

import json
import random
import subprocess
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import pytest

from tests.state.remote_places import BUCKET, postgresql_server, s3_server
from tests.support.command_line import flareiac
from tests.support.terraform_values import is_there

EDGES: Final = (
    *("12345678901234567890.25", "1.0000000000000000001", "1e-400", "-0.0", "1.50000000000000000000"),
    *("0.12345678901234567", "-9007199254740993.5", "5e-324", "2.4703282292062328e-324", "1e-7", "1e22"),
    *("0.1", "0.30000000000000004", "1.7976931348623159e308", "1e400", "123456789012345678901234567890"),
)
TOO_LONG: Final = f"{10**300}.5"
"""Terraform has 512 bits for it."""
KINDS: Final = ("local", "s3", "postgresql")
CHANGED: Final = (Decimal("12345678901234567890.25"), Decimal("12345678901234567890.26"))


def numbers(seed: int, count: int) -> list[str]:
    """Numbers of up to 150 digits, which 512 bits hold."""
    made = random.Random(seed)
    texts = [
        f"{made.choice(('', '-'))}{made.randint(0, 10 ** made.randint(0, 40))}."
        f"{''.join(made.choices('0123456789', k=made.randint(1, 100)))}{made.choice(('', '', 'e-9', 'e12'))}"
        for _ in range(count)
    ]
    return [*EDGES, *texts]


def module(texts: list[str]) -> str:
    """An output for each number; those with an odd index are parts of a larger value."""
    outputs = (text if at % 2 == 0 else f"[{{ n = {text} }}]" for at, text in enumerate(texts))
    return "".join(f'output "o{at}" {{\n  value = {value}\n}}\n' for at, value in enumerate(outputs))


def exact(text: str) -> Any:
    return json.loads(text, parse_float=Decimal, parse_int=Decimal)


def values(outputs: dict[str, Any]) -> list[Any]:
    return [outputs[f"o{at}"]["value"] for at in range(len(outputs))]


def wanted(texts: list[str]) -> list[Any]:
    return [Decimal(text) if at % 2 == 0 else [{"n": Decimal(text)}] for at, text in enumerate(texts)]


def run(root: Path, *words: str, code: int = 0) -> str:
    done = flareiac(root, *words)
    assert done.code == code, done.text
    return done.out


def write(root: Path, text: str) -> Path:
    root.mkdir(exist_ok=True)
    (root / "main.flare.hcl").write_text(text, encoding="utf-8")
    return root


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The settings of each kind of backend; ``local`` has none."""
    with s3_server() as endpoint, postgresql_server(tmp_path_factory.mktemp("server")) as server:
        yield {
            "local": "",
            "s3": (
                f'bucket = "{BUCKET}"\nprefix = "numbers"\nendpoint = "{endpoint}"\n'
                'region = "us-east-1"\npath_style = true'
            ),
            "postgresql": f'connection = "{server.uri("postgres")}"\nschema = "numbers"',
        }


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_go_from_project_to_project_unchanged(
    tmp_path: Path, settings: dict[str, str], kind: str
) -> None:
    texts, backend = [*numbers(30, 40), TOO_LONG], settings[kind]
    block = f'flareiac {{\nbackend "{kind}" {{\n{backend}\n}}\n}}\n' if backend else ""
    first = write(tmp_path / "first", block + module(texts))
    if block:
        run(first, "init")
    run(first, "apply", "-auto-approve")
    passed_on = "".join(
        f'output "o{at}" {{\n  value = data.state.first.outputs.o{at}\n}}\n' for at in range(len(texts))
    )
    place = backend or 'path = "../first"'
    reads = f'data "state" "first" {{\nbackend = "{kind}"\nconfig = {{\n{place}\n}}\n'
    reads += f"defaults = {{ other = {texts[0]} }}\n}}\n"
    second = write(
        tmp_path / "second", f'{reads}{passed_on}output "d" {{ value = data.state.first.outputs.other }}\n'
    )
    run(second, "apply", "-auto-approve")
    found = exact(run(second, "output", "-json"))
    assert found.pop("d")["value"] == Decimal(texts[0])
    assert values(found) == values(exact(run(first, "output", "-json"))) == wanted(texts)
    assert "No changes." in run(first, "plan", "-detailed-exitcode")
    assert "No changes." in run(second, "plan", "-detailed-exitcode")
    assert Decimal(run(second, "output", "-raw", "o0")) == Decimal(texts[0])


def test_a_change_of_the_last_digit_is_planned_saved_and_applied(tmp_path: Path) -> None:
    before, after = CHANGED
    root = write(tmp_path / "p", f'output "n" {{ value = {before} }}\noutput "m" {{ value = 1 }}\n')
    run(root, "apply", "-auto-approve")
    write(root, f'output "n" {{ value = {after} }}\noutput "m" {{ value = 1 }}\n')
    said = run(root, "plan", "-out=p.json", "-detailed-exitcode", code=2)
    change = exact(run(root, "show", "-json", "p.json"))["output_changes"]["n"]
    lines = [exact(line) for line in run(root, "apply", "-json", "p.json").splitlines()]
    event = [line for line in lines if line["type"] == "outputs"][-1]["outputs"]["n"]["value"]
    state = exact(run(root, "show", "-json"))["values"]["outputs"]["n"]["value"]
    assert f"n = {before} -> {after}" in said
    assert (change["before"], change["after"]) == (before, after)
    assert event == state == after
    assert run(root, "output", "-raw", "n").strip() == run(root, "output", "n").strip() == str(after)
    assert exact(run(root, "state", "pull"))["features"] == ["exact-numbers"]
    write(root, 'output "n" { value = 0.5 }\n')
    run(root, "apply", "-auto-approve")
    assert exact(run(root, "state", "pull"))["features"] == []


@pytest.mark.skipif(not is_there(), reason="the terraform binary is the oracle")
@pytest.mark.parametrize(
    ("seed", "count"), [(31, 40), *(pytest.param(seed, 500, marks=pytest.mark.slow) for seed in range(4))]
)
def test_terraform_has_the_same_numbers(tmp_path: Path, seed: int, count: int) -> None:
    texts = numbers(seed, count)
    ours = write(tmp_path / "ours", module(texts))
    run(ours, "apply", "-auto-approve")
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "main.tf").write_text(module(texts))
    for words in (("apply", "-auto-approve", "-no-color"), ("output", "-json", "-no-color")):
        done = subprocess.run(
            ["terraform", *words], cwd=theirs, capture_output=True, text=True, timeout=300, check=True
        )
    there = exact(done.stdout[done.stdout.index("{") :])
    here = exact(run(ours, "output", "-json"))
    assert values(here) == values(there)
    assert {name: item["type"] for name, item in here.items()} == {
        name: item["type"] for name, item in there.items()
    }
