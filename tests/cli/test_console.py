"""``console`` as a person uses it on a terminal, and as programs do by pipes."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.support.command_line import arguments, environment, flareiac
from tests.support.pseudo_terminal import on_terminal

PROJECT = """
variable "env" { default = "dev" }
variable "key" {
  default   = "hush"
  sensitive = true
}
locals {
  regions = ["eu", "us"]
}
table "t" {
  namespace = "n"
  column "id" { type = "long" }
}
module "part" {
  source   = "./part"
  for_each = toset(["a"])
  word     = "${each.key}!"
}
"""
PART = 'variable "word" {}\nlocals { twice = "${var.word}${var.word}" }\noutput "word" { value = var.word }\n'


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "main.flare.hcl").write_text(PROJECT)
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / "part.flare.hcl").write_text(PART)
    return tmp_path


def piped(root: Path, text: str | bytes, *words: str) -> "subprocess.CompletedProcess[str]":
    content = text.encode() if isinstance(text, str) else text
    done = subprocess.run(
        arguments("console", *words), cwd=root, env=environment(), input=content, capture_output=True
    )
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def test_expressions_are_read_from_standard_input(root: Path) -> None:
    done = piped(
        root, 'upper(var.env)\n\n[\n  1,\n  local.regions[0],\n]\nmodule.part["a"].word\nexit\nnope\n'
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == '"DEV"\n[\n  1,\n  "eu",\n]\n"a!"\n'
    done = piped(root, "<<X\n a\nX\n1 +\n2\n")
    assert (done.returncode, done.stdout) == (1, "<<EOT\n a\n\nEOT\n")
    assert "has to go on" in done.stderr


def test_options_choose_the_values(root: Path) -> None:
    (root / "other.vars.hcl").write_text('env = "file"\n')
    assert piped(root, "var.env", "-var", "env=given").stdout == '"given"\n'
    assert piped(root, "var.env", "-var-file=other.vars.hcl").stdout == '"file"\n'
    assert piped(root, "local.twice", '-scope=module.part["a"]').stdout == '"a!a!"\n'
    done = piped(root, "1", "-scope=module.port")
    assert done.returncode == 1
    assert "module.part" in done.stderr


def test_references_have_what_the_state_records_and_nothing_is_written(root: Path) -> None:
    assert piped(root, "table.t.uuid").stdout == "(known after apply)\n"
    applied = flareiac(root, "apply", "-auto-approve")
    assert applied.code == 0, applied.text
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*")}
    recorded = json.loads(flareiac(root, "show", "-json").out)
    uuid = next(
        each["flareiac"]["identity"]["uuid"]
        for each in recorded["values"]["root_module"]["resources"]
        if each["address"] == "table.t"
    )
    assert piped(root, "table.t.uuid").stdout == f'"{uuid}"\n'
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*")} == before


def test_each_line_has_one_answer_in_json(root: Path) -> None:
    asked = [
        "1 + 1",
        "nope",
        "[",
        "",
        '"\xff',
        "var.key",
        "type(local.regions)",
        "# comment",
        "(" * 300,
    ]
    done = piped(root, "\n".join(asked), "-json")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [next(iter(answer)) for answer in answers] == [
        *("value", "error", "error", "error", "error", "value", "value", "error", "error")
    ]
    assert (done.returncode, done.stderr) == (1, "")
    assert answers[0] == {"value": 2, "type": "number"}
    assert "hush" not in done.stdout


def test_what_is_sensitive_is_never_shown(root: Path) -> None:
    named = "{ (var.key) = 1 }"
    for expression in (
        *("var.key", "var", "[var.key]", "upper(var.key)", "var.key.nope", "tonumber(var.key)"),
        *(
            named,
            f"type({named})",
            f"[{named}]",
            f"type(tolist([{named}]))",
            "{ for k in [var.key] : k => 1 }",
        ),
    ):
        for words in ((), ("-json",)):
            done = piped(root, expression, *words)
            assert "hush" not in (done.stdout + done.stderr).lower(), (expression, words)


def test_a_sensitive_resource_is_not_shown(root: Path) -> None:
    for expression in ("sensitive(table.t)", "[sensitive(table.t)]", "{ a = sensitive(table.t) }"):
        for words in ((), ("-json",)):
            assert "long" in piped(root, "table.t", *words).stdout
            assert "long" not in piped(root, expression, *words).stdout, (expression, words)


def test_a_folder_without_files_has_functions(tmp_path: Path) -> None:
    assert piped(tmp_path, 'join("-", [1, 2])').stdout == '"1-2"\n'


@pytest.mark.parametrize("content", [b"\xff\n", b'"\xff"\n', b"\0\n", b"a\r\nb", b"type()\n"])
def test_bad_bytes_and_calls_are_errors(root: Path, content: bytes) -> None:
    done = piped(root, content)
    assert done.returncode == 1
    assert "Error: " in done.stderr
    assert "Traceback" not in done.stderr


def test_a_wrong_configuration_is_said_and_nothing_evaluated(root: Path) -> None:
    (root / "main.flare.hcl").write_text("locals {\n  a = nope\n}\n")
    done = piped(root, "1")
    assert (done.returncode, done.stdout) == (1, "")
    assert "main.flare.hcl line 2" in done.stderr


def test_a_person_edits_lines_and_leaves_them(root: Path) -> None:
    with on_terminal(root, "console") as screen:
        screen.until(lambda: screen.text.endswith("> "))
        screen.type("local.reg\t[\n0]\n")
        screen.until(lambda: '"eu"' in screen.text)
        screen.type("nope\n")
        screen.until(lambda: "Error" in screen.text and screen.text.endswith("> "))
        screen.type("[1,\n")
        screen.until(lambda: screen.text.endswith(". "))
        screen.type("\x03")
        screen.until(lambda: screen.text.endswith("> "))
        screen.type("1 + 40\n")
        screen.until(lambda: "41" in screen.text)
        screen.type("exit\n")
        assert screen.end() == 0
    with on_terminal(root, "console") as screen:
        screen.until(lambda: screen.text.endswith("> "))
        screen.type("\x04")
        assert screen.end() == 0
