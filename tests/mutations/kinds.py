"""The kinds of files that are damaged, each with the commands that read them."""

import contextlib
import io
import random
import shutil
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from flareiac.cli.main import run
from tests.mutations.mutate import damaged_json, damaged_text

LIMIT = 60
"""Seconds after which a command counts as hanging."""
CODES = frozenset({0, 1, 2, 3, 4, 5, 6, 8, 64})
MAIN = b"""variable "env" {
  type    = string
  default = "dev"
  validation {
    condition     = length(var.env) < 9
    error_message = "Too long: ${var.env}."
  }
}
variable "tables" {
  type    = map(object({ days = optional(number, 7), tags = optional(list(string), []) }))
  default = { a = {}, b = { days = 3 } }
}
locals {
  names = [for key, item in var.tables : "${upper(key)}-${item.days}" if item.days > 1]
}
catalog "lake" {
  uri       = "sqlite:///lake/catalog.db"
  warehouse = "lake/warehouse"
}
namespace "web" { properties = { env = var.env } }
table "t" {
  for_each  = var.tables
  catalog   = catalog.lake
  namespace = namespace.web.name
  name      = each.key
  comment   = <<-EOT
    of ${each.key}
  EOT
  column "id" {
    type    = "long"
    comment = "its number"
  }
  column "ts"   { type = "timestamptz" }
  column "more" { type = "struct<a: int, b: list<string>>" }
  partition_by = [day("ts"), bucket(4, "id")]
  properties   = { "write.format.default" = "parquet" }
  lifecycle { prevent_destroy = false }
}
stream "ticks" { rate { rows_per_second = 5 } }
checkpoint "c" {}
job "j" {
  checkpoint = checkpoint.c
  trigger    = { processing_time = "2s" }
  stopped    = true
  input "ticks" { stream = stream.ticks }
  step "s" { sql = "SELECT value AS id, timestamp AS ts FROM ticks WHERE value > ${length(local.names)}" }
  output "o" { table = table.t["a"] }
}
output "names" { value = [for t in table.t : t.name] }
output "secret" {
  value     = join(",", local.names)
  sensitive = true
}
"""
VARIABLES = b'env = "prod"\ntables = {\n  a = { days = 4, tags = ["x"] }\n  c = {}\n}\n'
_WITHOUT_JOB = MAIN.replace(MAIN[MAIN.index(b'stream "ticks"') : MAIN.index(b'output "names"')], b"")
STATE, LOCK = ".flareiac/state/default/snapshot.json", ".flareiac/state/default/lock.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """``commands`` is chosen from for each damaged file; what they change is set back."""

    file: str
    damage: Callable[[bytes, random.Random], bytes]
    commands: tuple[tuple[str, ...], ...]
    main: bytes = _WITHOUT_JOB


_READERS = (("plan", "-refresh=none"), ("state", "list"), ("show", "-json"), ("output",), ("drift", "-json"), ("destroy", "-input=false"))
KINDS: dict[str, Kind] = {
    "hcl": Kind(file="main.flare.hcl", damage=damaged_text, commands=(("validate",), ("validate", "-json")), main=MAIN),
    "plan": Kind(file="saved.plan", damage=damaged_text, commands=(("show", "saved.plan"), ("apply", "saved.plan", "-json"))),
    "plan-sealed": Kind(
        file="saved.plan", damage=partial(damaged_json, sealed=True), commands=(("show", "saved.plan"), ("show", "-json", "saved.plan"))
    ),
    "state": Kind(file=STATE, damage=damaged_text, commands=_READERS),
    "state-parts": Kind(file=STATE, damage=partial(damaged_json, sealed=False), commands=_READERS),
    "lock": Kind(file=LOCK, damage=damaged_text, commands=(("destroy", "-input=false"),)),
    "lock-parts": Kind(file=LOCK, damage=partial(damaged_json, sealed=False), commands=(("destroy", "-input=false"),)),
    "variables": Kind(file="dev.vars.hcl", damage=damaged_text, commands=(("validate", "-var-file=dev.vars.hcl"),)),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A damaged file on which a command did not end as it should."""

    kind: str
    number: int
    command: tuple[str, ...]
    content: bytes
    told: str


def prepare(root: Path) -> None:
    """A project that was applied, with a saved plan."""
    for name, content in (("main.flare.hcl", _WITHOUT_JOB), ("dev.vars.hcl", VARIABLES)):
        (root / name).write_bytes(content)
    _done(root, "apply", "-auto-approve")
    (root / "main.flare.hcl").write_bytes(_WITHOUT_JOB.replace(b'"write.format.default" = "parquet"', b'"a" = "b"'))
    _done(root, "plan", "-out=saved.plan", "-target=namespace.web")
    (root / "main.flare.hcl").write_bytes(_WITHOUT_JOB)


def _done(root: Path, *command: str) -> None:
    code, told = _run(root, command)
    assert code == 0, told


def attack(root: Path, name: str, count: int, seed: int) -> Iterator[Found]:
    """Damages one kind of file that often, and yields what went wrong. Leaves the project as it was."""
    kind = KINDS[name]
    content = kind.main if kind.file == "main.flare.hcl" else (root / kind.file).read_bytes()
    kept = root.with_name(f"{root.name}-kept")
    shutil.copytree(root / ".flareiac", kept)
    try:
        for number in range(count):
            choose = random.Random(f"{seed}/{name}/{number}")
            damaged, command = kind.damage(content, choose), choose.choice(kind.commands)
            (root / kind.file).write_bytes(damaged)
            code, told = _run(root, command)
            if code not in CODES or "FIX099" in told or "Traceback" in told:
                yield Found(kind=name, number=number, command=command, content=damaged, told=told)
            if kind.file == STATE or command[0] in ("apply", "destroy"):
                shutil.rmtree(root / ".flareiac")
                shutil.copytree(kept, root / ".flareiac")
    finally:
        shutil.rmtree(kept)
        (root / kind.file).write_bytes(content if kind.file != "main.flare.hcl" else _WITHOUT_JOB)


def _run(root: Path, command: tuple[str, ...]) -> tuple[int, str]:
    out, err = io.StringIO(), io.StringIO()
    kept = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    previous = signal.signal(signal.SIGALRM, _hanging)
    signal.alarm(LIMIT)
    stdin, sys.stdin = sys.stdin, io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings():
            code = run([f"-chdir={root}", *command])
    except BaseException as trouble:  # noqa: BLE001 - whatever it is, it is what is looked for
        return -1, f"{out.getvalue()}{err.getvalue()}{type(trouble).__name__}: {trouble}"
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)
        sys.stdin = stdin
        for number, handler in kept.items():
            signal.signal(number, handler)
    return code, out.getvalue() + err.getvalue()


def _hanging(_number: int, _frame: object) -> None:
    raise TimeoutError(f"no end after {LIMIT} s")
