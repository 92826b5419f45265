"""The projects whose files are damaged: small ones that were really applied, and the cases of the golden
tests with their states.
"""

import contextlib
import io
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from flareiac.model.snapshot import encode_snapshot
from tests.golden.case import CASES, Case, name_of, read_case, recorded_state

STATE, JOURNAL, LOCK, PLAN = (
    ".flareiac/state/default/snapshot.json",
    ".flareiac/state/default/journal.jsonl",
    ".flareiac/state/default/lock.json",
    "saved.plan",
)
MAIN, JARS = "main.flare.hcl", ".flareiac.lock.hcl"
CONFIGURATION = b"""variable "env" {
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
stream "ticks" {
  rate { rows_per_second = 5 }
}
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
_WITHOUT_JOB = CONFIGURATION.replace(
    CONFIGURATION[CONFIGURATION.index(b'stream "ticks"') : CONFIGURATION.index(b'output "names"')], b""
)
DECLARED = b"""variable "env"     { default = "dev" }
variable "any"     { default = null }
variable "count"   { type = number }
variable "on"      { type = bool }
variable "names"   { type = set(string) }
variable "pair"    { type = tuple([string, number]) }
variable "nested"  { type = map(list(object({ a = string, b = optional(map(number), { x = 1 }) }))) }
variable "secret"  {
  type      = object({ user = string, password = optional(string) })
  sensitive = true
}
variable "kept" {
  type     = list(any)
  nullable = false
  default  = []
  validation {
    condition     = alltrue([for x in var.kept : x != "no"])
    error_message = "Not ${jsonencode(var.kept)}."
  }
}
variable "tables" {
  type    = map(object({ days = optional(number, 7), tags = optional(list(string), []) }))
  default = {}
}
output "all"    { value = [var.env, var.any, var.count, var.on, var.names, var.pair, var.nested, var.kept, var.tables] }
output "secret" {
  value     = var.secret
  sensitive = true
}
"""
VARIABLES = b"""env    = "prod"
any    = { x = [1, "a", null], "y z" = true }
count  = 1e3
on     = true
names  = ["a", "b", "a"]
pair   = ["x", 2]
nested = {
  one = [{ a = "1" }, { a = "2", b = { y = 2 } }]
  two = []
}
secret = { user = "u", password = "hush" }
kept   = [1, 2, upper("x")]
tables = {
  a = { days = 4, tags = ["x"] }
  c = {}
}
"""
_JARS = b"""# Written by "flareiac init". Keep it under version control: every start uses exactly these jars.

jar "org.apache.spark:spark-sql-kafka-0-10_2.13:4.1.0" {
  sha256 = "%s"
}

jar "org.apache.kafka:kafka-clients:3.9.1" {
  sha256 = "%s"
}
""" % (b"0" * 64, b"a" * 64)
_ENGINE = b'engine "local" {\n  packages = ["org.apache.spark:spark-sql-kafka-0-10_2.13:4.1.0"]\n}\n'


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """All files of a project by their paths. ``is_real``: its catalog and tables are there, so that systems
    can be asked.
    """

    name: str
    files: Mapping[str, bytes]
    is_real: bool = False


def make_worlds(root: Path) -> tuple[World, ...]:
    """Every world, made in ``root``, which is where they are used."""
    return (*_applied(root), _variables(), _jars(), *_golden(root))


def _applied(root: Path) -> tuple[World, ...]:
    """A project that was applied, with a saved plan; and one whose apply was killed between an intent and its
    result.
    """
    _write(root, {MAIN: _WITHOUT_JOB})
    killed = [
        sys.executable,
        "-c",
        "from flareiac.cli.main import main; main()",
        f"-chdir={root}",
        "apply",
        "-auto-approve",
    ]
    code = subprocess.run(
        killed,
        env={**os.environ, "FLAREIAC_KILL_AT": "apply.before-result:3"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    ).returncode
    assert code == -9, f"the apply was not killed where it should be, it ended with {code}"
    interrupted = _read(root)
    _done(root, "apply", "-auto-approve")
    (root / MAIN).write_bytes(_WITHOUT_JOB.replace(b'"write.format.default" = "parquet"', b'"a" = "b"'))
    _done(root, "plan", f"-out={PLAN}")
    changed = (root / PLAN).read_bytes()
    _done(root, "plan", f"-out={PLAN}", "-destroy")
    (root / MAIN).write_bytes(_WITHOUT_JOB)
    applied = _read(root)
    return (
        World(name="applied", files={**applied, PLAN: changed}, is_real=True),
        World(name="letting go", files=applied, is_real=True),
        World(name="with a job", files={**applied, MAIN: CONFIGURATION, PLAN: changed}, is_real=True),
        World(name="interrupted", files={**interrupted, PLAN: changed}, is_real=True),
    )


def _variables() -> World:
    return World(name="variables", files={MAIN: DECLARED, "dev.vars.hcl": VARIABLES})


def _jars() -> World:
    return World(name="jars", files={MAIN: _ENGINE, JARS: _JARS})


def _golden(root: Path) -> tuple[World, ...]:
    return tuple(World(name=name_of(path), files=_case(read_case(path), root)) for path in CASES)


def _case(case: Case, root: Path) -> dict[str, bytes]:
    files = {MAIN: case.main.encode()}
    if case.recorded is not None:
        files[STATE] = encode_snapshot(recorded_state(case, root))
    return files


def _done(root: Path, *command: str) -> None:
    from flareiac.cli.main import run

    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        code = run([f"-chdir={root}", *command])
    assert code == 0, out.getvalue()


def _write(root: Path, files: Mapping[str, bytes]) -> None:
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content)


def _read(root: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()
    }


@dataclass(frozen=True, slots=True)
class Tree:
    """The files of one directory. It is set to a world by writing only what differs; folders that are left
    over stay.
    """

    root: Path
    _there: dict[str, tuple[bytes, tuple[int, ...]]]

    @classmethod
    def empty(cls, root: Path) -> "Tree":
        return cls(root, {})

    def become(self, files: Mapping[str, bytes]) -> None:
        """Holds these files and no others."""
        for name in self._found():
            if name not in files:
                (self.root / name).unlink()
                self._there.pop(name, None)
        for name, content in files.items():
            path = self.root / name
            if (
                name in self._there
                and self._there[name][0] == content
                and self._there[name][1] == _sign(path)
            ):
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
            path.write_bytes(content)
            self._there[name] = (content, _sign(path))

    def changed(self, files: Mapping[str, bytes], ignored: Callable[[str], bool]) -> list[str]:
        """The names of the files that are no longer as these files say."""
        found = set(self._found())
        names = [
            *found - set(files),
            *(name for name in files if self._there[name][1] != _sign(self.root / name)),
        ]
        return sorted(name for name in names if not ignored(name))

    def _found(self) -> list[str]:
        return [
            os.path.relpath(os.path.join(folder, name), self.root)  # noqa: PTH118 - runs after every mutation
            for folder, _folders, names in os.walk(self.root)
            for name in names
        ]


def _sign(path: Path) -> tuple[int, ...]:
    try:
        found = path.lstat()
    except OSError:
        return ()
    return (found.st_mtime_ns, found.st_ino, found.st_size, found.st_mode)
