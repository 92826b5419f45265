"""Thirty secrets, each where a project may hold one: no format of any command shows one, and no file keeps
one.
"""

import base64
import html
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import quote

import pytest

from tests.support.command_line import Ended, flareiac

LAKE: Final = """
secret "conf"    { env = "P01" }
secret "submit"  { env = "P02" }
secret "reader"  { env = "P03" }
secret "job"     { env = "P04" }
secret "input"   { env = "P05" }
secret "writer"  { env = "P06" }
secret "in_file" { file = "private/key" }
variable "by_default" {
  sensitive = true
  default   = "P07"
}
variable "by_file" {
  sensitive = true
}
variable "by_environment" {
  type      = object({ user = string, words = list(string) })
  sensitive = true
}
variable "typed" {
  sensitive = true
}
variable "in_part" {
  default = { open = "open", closed = sensitive("P08") }
}
variable "checked" {
  default   = "P09"
  sensitive = true
  validation {
    condition     = length(var.checked) > 1
    error_message = "Not ${var.checked}."
  }
}
locals {
  joined = join("-", [var.by_default, "P10"])
  keyed  = { for word in var.by_environment.words : word => upper("p11") if word != "" }
  number = sensitive(7041990312)
}
engine "local" {
  conf = { "spark.hadoop.fs.s3a.secret.key" = secret.conf, "spark.x" = secret.in_file }
}
catalog "lake" {
  type       = "sql"
  uri        = "sqlite:///lake.db"
  warehouse  = "warehouse"
  properties = { "s3.secret-access-key" = secret.submit }
}
table "t" {
  catalog   = catalog.lake
  namespace = "n"
  column "id" { type = "long" }
  column "ts" { type = "timestamptz" }
  lifecycle { prevent_destroy = length(var.by_default) > 100 }
}
table "by_count" {
  count     = length(var.in_part.open)
  catalog   = catalog.lake
  namespace = "n"
  name      = "count_${count.index}"
  column "id" { type = "long" }
}
stream "ticks" {
  files {
    path    = "landing"
    format  = "json"
    options = { dateFormat = secret.reader }
  }
  column "timestamp" { type = "timestamptz" }
  column "value"     { type = "long" }
}
checkpoint "c" {}
job "j" {
  engine     = engine.local
  checkpoint = checkpoint.c
  trigger    = { processing_time = "5s" }
  stopped    = true
  conf       = { "spark.sql.x" = secret.job }
  input "ticks" { stream = stream.ticks }
  step "s" { sql = "SELECT value AS id, timestamp AS ts FROM ticks" }
  output "t" {
    table   = table.t
    options = { key = secret.writer }
  }
}
job "once" {
  engine  = engine.local
  stopped = true
  mode    = "batch"
  run     = "manual"
  input "other" {
    files {
      path    = "other"
      format  = "csv"
      options = { header = "true", nullValue = secret.input }
      columns = { id = "long" }
    }
  }
  step "s" { sql = "SELECT id FROM other" }
  output "t" { table = table.by_count[0] }
}
output "default" {
  value     = local.joined
  sensitive = true
}
output "keyed" {
  value     = [local.keyed, local.number, var.by_file, var.typed]
  sensitive = true
}
output "length" { value = nonsensitive(length(var.typed)) }
policy "reads" {
  enforcement = "advisory"
  rule "secret" {
    condition = change.address != var.by_default && var.by_default != "P12"
    message   = "not ${var.by_default}"
  }
  rule "hides" {
    condition = resource.address != "table.t"
    message   = "not ${sensitive("P13")} ${var.typed}"
  }
}
"""
BROKERS: Final = """
secret "user"       { env = "P14" }
secret "password"   { env = "P15" }
secret "client"     { env = "P16" }
secret "registry"   { env = "P17" }
secret "registrar"  { env = "P18" }
secret "header"     { env = "P19" }
secret "bearer"     { env = "P20" }
secret "reader_key" { env = "P21" }
kafka "k" {
  bootstrap_servers = "127.0.0.1:9"
  sasl              = { mechanism = "PLAIN", username = secret.user, password = secret.password }
  options           = { "client.id" = secret.client }
  schema_registry = {
    url        = "http://127.0.0.1:9"
    username   = secret.registrar
    password   = secret.registry
    properties = { "x.y" = secret.reader_key }
  }
}
catalog "rest" {
  type       = "rest"
  uri        = "http://127.0.0.1:9"
  token      = secret.bearer
  properties = { "header.x-key" = secret.header }
}
topic "events" {
  kafka      = kafka.k
  partitions = 3
}
table "far" {
  catalog   = catalog.rest
  namespace = "n"
  column "id" { type = "long" }
}
"""
MISTAKES: Final = """
output "o" { value = sensitive("P22") }
---
output "o" {
  value = 1
  precondition {
    condition     = sensitive("P23") == ""
    error_message = "not ${sensitive("P23")}"
  }
}
---
table "far" {
  namespace = var.by_default
  column "id" { type = "long" }
}
---
table "far" {
  namespace = "n"
  comment   = "a ${local.joined} b"
  column "id" { type = "long" }
}
---
table "far" {
  for_each  = toset([var.by_default])
  namespace = "n"
  column "id" { type = "long" }
}
---
table "far" {
  count     = sensitive(2)
  namespace = "n"
  column "id" { type = var.by_default }
}
---
import {
  to = table.t
  id = "n.${var.by_default}"
}
---
locals { wrong = tonumber(var.by_default) + jsondecode(var.by_file) + var.by_environment.P24 }
output "o" { value = local.wrong }
---
output "o" {
  value     = regex("(?<x", var.by_default)
  sensitive = true
}
---
output "o" {
  value     = file(var.by_default)
  sensitive = true
}
---
output "o" {
  value     = { a = 1 }[var.by_default]
  sensitive = true
}
---
output "o" {
  value     = coalesce(var.by_default.x, [][var.by_file])
  sensitive = true
}
---
consumer "c" {
  reads = [table.t]
  owner = var.by_default
}
---
consumer "c" {
  reads       = [table.t]
  description = local.joined
  url         = var.by_file
}
---
flareiac { owner = sensitive("P25") }
---
removed { from = table[var.by_default] }
---
moved {
  from = table.x[var.by_default]
  to   = table.y
}
---
policy "p" {
  rule "r" {
    condition = tonumber(var.by_default) > 1
    message   = var.by_default
  }
}
"""
"""Each of them is an error; P22 to P25 stand in the text itself, which is shown where it is wrong."""
SECRETS: Final = {f"P{number:02}": f"S3cr{number:02}tq{number:02}X" for number in range(1, 31)}
COMMANDS: Final = (
    ("validate",),
    ("validate", "-json"),
    ("validate", "-sarif"),
    ("plan", "-detail=full", "-show-steps"),
    ("plan", "-json"),
    ("plan", "-json-into=plan.tf.json"),
    ("plan", "-out=saved"),
    ("show", "saved"),
    ("show", "-json", "saved"),
    *(("report", f"-format={form}", "saved") for form in ("markdown", "html", "json")),
    *(("policy", "check", f"-format={form}", "saved") for form in ("text", "json", "junit", "sarif")),
    *(("graph", f"-format={form}") for form in ("dot", "mermaid", "svg", "json")),
    ("graph", "-lineage"),
    ("apply", "-auto-approve", "-json", "saved"),
    ("apply", "-auto-approve", "-target=table.by_count", "-target=table.t"),
    *(("drift", f"-format={form}") for form in ("text", "json", "markdown", "junit")),
    ("status",),
    ("status", "-json"),
    ("report", "-state", "-format=html"),
    ("doctor",),
    ("doctor", "-json"),
    ("output",),
    ("output", "-json"),
    ("show",),
    ("show", "-json"),
    ("state", "list"),
    ("state", "show", "table.t"),
    ("state", "history"),
    ("state", "pull"),
    ("maintain", "-auto-approve"),
    ("destroy", "-auto-approve"),
)


FAILING: Final = {"apply -auto-approve -json saved", "doctor", "doctor -json"}
"""Without locked jars no job can be started."""


def project(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Writes the project, and sets the environment of its commands."""
    for name, secret in SECRETS.items():
        if f'env = "{name}"' not in text:
            text = text.replace(name, secret).replace(name.lower(), secret.lower())
    (folder / "main.flare.hcl").write_text(text)
    (folder / "private").mkdir()
    (folder / "private" / "key").write_text(SECRETS["P26"])
    (folder / "private" / "v.vars.hcl").write_text(f'by_file = "{SECRETS["P27"]}"\n')
    by_environment = {"user": SECRETS["P28"], "words": [SECRETS["P29"]]}
    variables = {**SECRETS, "FLAREIAC_VAR_by_environment": json.dumps(by_environment)}
    for name, value in variables.items():
        monkeypatch.setenv(name, value)


def run(folder: Path, words: tuple[str, ...]) -> Ended:
    given = ("-var-file=private/v.vars.hcl", f"-var=typed={SECRETS['P30']}")
    takes = words[0] in ("plan", "drift", "graph", "validate", "maintain", "destroy") or (
        words[0] == "apply" and "saved" not in words
    )
    return flareiac(folder, *words, *(given if takes else ()))


def spellings(secret: str) -> Iterator[str]:
    yield from (secret, secret.upper(), secret.lower(), secret[::-1], quote(secret), html.escape(secret))
    for before in range(3):
        yield base64.b64encode(bytes(before) + secret.encode()).decode()[4:-4]


def shown(text: str, secrets: set[str]) -> list[str]:
    return [name for name in sorted(secrets) if any(each in text for each in spellings(SECRETS[name]))]


def kept(folder: Path) -> Iterator[tuple[str, str]]:
    """Yields the files of the project but its own text, by name."""
    for path in folder.rglob("*"):
        if path.is_file() and path.name != "main.flare.hcl" and path.parent.name != "private":
            yield str(path.relative_to(folder)), path.read_bytes().decode(errors="replace")


@pytest.mark.parametrize("text", [LAKE, LAKE + BROKERS], ids=["lake", "brokers"])
def test_no_command_shows_and_no_file_keeps_a_secret(
    tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    project(tmp_path, text, monkeypatch)
    planted = set(SECRETS)
    ended = {words: run(tmp_path, words) for words in COMMANDS}
    assert {
        " ".join(words): names for words, end in ended.items() if (names := shown(end.text, planted))
    } == {}
    assert {name: names for name, content in kept(tmp_path) if (names := shown(content, planted))} == {}
    failed = {" ".join(words) for words, end in ended.items() if end.code not in (0, 3, 4)}
    assert BROKERS in text or failed == FAILING


def test_no_error_shows_a_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, mistake in enumerate(MISTAKES.split("\n---\n")):
        folder = tmp_path / str(number)
        folder.mkdir()
        project(folder, LAKE + mistake, monkeypatch)
        in_text = {name for name in SECRETS if name in mistake}
        for words in (("validate", "-json"), ("plan",)):
            ended = run(folder, words)
            assert ended.code in (1, 4), mistake + ended.text
            assert shown(ended.text, set(SECRETS) - in_text) == [], mistake
