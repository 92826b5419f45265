"""A secret stands in no setting: it is named by reference, only the reference travels, and who uses the
setting reads it.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from flareiac.app.discovery import installed
from flareiac.config.load import Configuration, load
from flareiac.config.variables import Inputs
from flareiac.kernel.diagnostics import Diagnostics, Failure, Severity
from flareiac.model.snapshot import new_snapshot
from flareiac.render.diagnostics import as_json, text
from flareiac.sdk.project import Project
from flareiac.sdk.secret_settings import is_secret
from flareiac_spark_runtime.control import ApplicationSettings, TableOutput
from flareiac_spark_runtime.driver.outputs import write_options
from flareiac_spark_runtime.driver.spark_session import set_conf, spark_conf
from flareiac_spark_runtime.sources.resolved import SpecColumn
from tests.support.command_line import flareiac

HIDDEN = "VARSECRET_c3"
AROUND = """
catalog "lake" {
  uri       = "sqlite:///lake/catalog.db"
  warehouse = "lake/warehouse"
}
secret "k" { env = "LANGUAGE_TEST_KEY" }
"""
PARTS: Mapping[str, str] = {
    "engine": """
engine "e" {
  conf = SETTINGS
}
""",
    "namespace": """
namespace "n" {
  properties = SETTINGS
}
""",
    "table": """
table "t" {
  namespace  = "n"
  properties = SETTINGS
  column "id" { type = "long" }
}
""",
    "stream": """
stream "s" {
  files {
    path    = "in"
    format  = "json"
    options = SETTINGS
  }
  column "id" { type = "long" }
}
""",
    "conf": """
checkpoint "j" {}
job "j" {
  checkpoint = checkpoint.j
  conf       = SETTINGS
  input "s" { stream = stream.s }
  output "o" { table = table.t }
}
""",
    "output": """
checkpoint "j" {}
job "j" {
  checkpoint = checkpoint.j
  input "s" { stream = stream.s }
  output "o" {
    table   = table.t
    options = SETTINGS
  }
}
""",
    "input": """
job "j" {
  mode = "batch"
  input "f" {
    files {
      path    = "in"
      format  = "json"
      columns = { id = "long" }
      options = SETTINGS
    }
  }
  output "o" { table = table.t }
}
""",
}
"""A block with one map of settings in it, by what that is."""
TAKES_SECRETS = ("engine", "stream", "conf", "output", "input")
IN_CLEAR = ("namespace", "table")
NAMES = (
    "spark.hadoop.fs.s3a.secret.key",
    "fs.s3a.session.token",
    "SOME.PASSWORD",
    "kafka.sasl.jaas.config",
    "kafka.ssl.key.password",
    "my_passphrase",
    "apiKey",
    "fs.azure.account.key.store.dfs.core.windows.net",
    "spark.hadoop.fs.gs.auth.service.account.private.key",
    "parquet.encryption.key.list",
    "spark.sql.catalog.other.header.X-Mine",
)
VALUES = {
    "spark.driver.extraJavaOptions": f"-Xmx1g -Djavax.net.ssl.keyStorePassword={HIDDEN}",
    "url": f"jdbc:postgresql://h/db?user=u&password={HIDDEN}",
    "endpoint": f"https://u:{HIDDEN}@h/path",
    "server": f"jdbc:sqlserver://h?x=1;password={HIDDEN}",
}


def project(kind: str, settings: str) -> str:
    """The block, with the others that it needs."""
    needed = {"conf": ("stream", "table"), "output": ("stream", "table"), "input": ("table",)}.get(kind, ())
    return (
        AROUND
        + PARTS[kind].replace("SETTINGS", settings)
        + "".join(PARTS[item].replace("SETTINGS", "{}") for item in needed)
    )


def loaded(root: Path, written: str) -> tuple[Configuration, Diagnostics]:
    (root / "main.flare.hcl").write_text(written, encoding="utf-8")
    diagnostics = Diagnostics()
    found = load(
        Project(root=root, lineage="l"),
        installed().registry,
        lambda _files: Inputs(environment={}),
        new_snapshot(),
        diagnostics,
    )
    return found, diagnostics


def codes(diagnostics: Diagnostics) -> list[str]:
    return [item.code for item in diagnostics if item.severity is Severity.ERROR]


def settings_of(found: Configuration) -> str:
    return json.dumps({name: item.attributes for name, item in found.desired.resources.items()}, default=str)


@pytest.mark.parametrize("kind", PARTS)
@pytest.mark.parametrize("setting", [*((name, HIDDEN) for name in NAMES), *VALUES.items()], ids=str)
def test_a_secret_that_is_written_out_is_refused_and_not_shown(
    tmp_path: Path, kind: str, setting: tuple[str, str]
) -> None:
    found, diagnostics = loaded(
        tmp_path, project(kind, json.dumps(dict([setting]), indent=None).replace('": "', '" = "'))
    )
    assert codes(diagnostics) == ["FIX053" if kind in IN_CLEAR else "FIX052"]
    assert HIDDEN not in text(diagnostics, found.sources, width=100, colour=False)
    assert HIDDEN not in json.dumps(as_json(diagnostics, found.sources))


@pytest.mark.parametrize("kind", TAKES_SECRETS)
def test_a_secret_is_taken_by_reference(tmp_path: Path, kind: str) -> None:
    found, diagnostics = loaded(
        tmp_path,
        project(kind, '{ "fs.s3a.secret.key" = secret.k, "fs.s3a.attempts" = 3, "fs.s3a.fast" = true }'),
    )
    assert codes(diagnostics) == []
    shown = settings_of(found)
    assert '"fs.s3a.secret.key": "flareiac-secret:env:LANGUAGE_TEST_KEY"' in shown
    assert '"fs.s3a.attempts": "3"' in shown
    assert '"fs.s3a.fast": "true"' in shown


@pytest.mark.parametrize("kind", IN_CLEAR)
@pytest.mark.parametrize("name", ["some.password", "anything"])
def test_what_is_kept_in_clear_text_takes_no_reference_either(tmp_path: Path, kind: str, name: str) -> None:
    assert codes(loaded(tmp_path, project(kind, f'{{ "{name}" = secret.k }}'))[1]) == ["FIX053"]


@pytest.mark.parametrize("kind", TAKES_SECRETS)
def test_only_secrets_can_be_referred_to(tmp_path: Path, kind: str) -> None:
    assert codes(loaded(tmp_path, project(kind, '{ "a" = catalog.lake }'))[1]) == ["FIL203"]


@pytest.mark.parametrize(
    "name",
    [
        "spark.hadoop.fs.s3a.aws.credentials.provider",
        "spark.hadoop.fs.s3a.access.key",
        "spark.sql.shuffle.partitions",
        "spark.kubernetes.authenticate.driver.oauthTokenFile",
        "spark.hadoop.hadoop.security.credential.provider.path",
        "spark.redaction.regex",
        "kafka.sasl.oauthbearer.token.endpoint.url",
        "write.metadata.delete-after-commit.enabled",
        "header",
        "multiLine",
        "encryption.key-id",
        "spark.yarn.keytab",
    ],
)
def test_a_setting_that_lets_nobody_in_is_none(name: str) -> None:
    assert not is_secret(name)


@pytest.mark.parametrize("value", ["true", "false", ""])
def test_a_switch_is_no_secret(tmp_path: Path, value: str) -> None:
    assert (
        codes(loaded(tmp_path, project("engine", f'{{ "spark.authenticate.secret" = "{value}" }}'))[1]) == []
    )


class Session:
    """The settings of a session of Spark."""

    def __init__(self) -> None:
        self.conf, self.given = self, dict[str, str]()

    def set(self, name: str, value: str) -> None:
        self.given[name] = value


def test_the_driver_reads_the_secret_where_it_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANGUAGE_TEST_KEY", HIDDEN)
    session: Any = Session()
    given = {"a": "flareiac-secret:env:LANGUAGE_TEST_KEY", "b": "plain"}
    set_conf(session, given)
    assert session.given == {"a": HIDDEN, "b": "plain"}
    output = TableOutput(
        name="o", source="s", identifier=("i",), uuid=None, mode="append", options=given, columns=(SpecColumn(name="c", type="long"),),
        checkpoint=None, branch=None, merge=None,
    )  # fmt: skip
    assert write_options(output)["a"] == HIDDEN
    monkeypatch.delenv("LANGUAGE_TEST_KEY")
    with pytest.raises(Failure, match="LANGUAGE_TEST_KEY"):
        set_conf(session, given)


def test_spark_starts_with_the_secret_and_does_not_show_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANGUAGE_TEST_KEY", HIDDEN)
    reference = "flareiac-secret:env:LANGUAGE_TEST_KEY"
    given = {
        "spark.hadoop.some.key": reference,
        "spark.sql.catalog.lake.token": reference,
        "spark.plain": "1",
    }
    found = spark_conf(ApplicationSettings(conf=given), {}, {})
    assert found["spark.hadoop.some.key"] == HIDDEN
    assert found["spark.plain"] == "1"
    assert "spark.sql.catalog.lake.token" not in found
    assert re.search(found["spark.redaction.regex"], "spark.hadoop.some.key")
    assert not re.search(found["spark.redaction.regex"], "spark.plain")


def test_the_secret_is_in_no_file_of_a_plan(tmp_path: Path) -> None:
    settings = '{ "fs.s3a.secret.key" = secret.k }'
    written = project("conf", settings) + PARTS["engine"].replace("SETTINGS", settings)
    (tmp_path / "main.flare.hcl").write_text(written)
    (tmp_path / "in").mkdir()
    planned = flareiac(tmp_path, "plan", "-out=plan.json", LANGUAGE_TEST_KEY=HIDDEN)
    assert planned.code == 0, planned.text
    assert HIDDEN not in planned.text
    assert "flareiac-secret:env:LANGUAGE_TEST_KEY" in (tmp_path / "plan.json").read_text()
    files = [item for item in tmp_path.rglob("*") if item.is_file()]
    assert not [item for item in files if HIDDEN.encode() in item.read_bytes()]
