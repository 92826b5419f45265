"""``doctor`` looks at everything that a project needs, and says what to do."""

from pathlib import Path

import pytest

from tests.support.command_line import flareiac


def test_a_catalog_that_can_not_be_made_is_told_with_a_fix(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file where a folder is needed")
    (tmp_path / "main.flare.hcl").write_text(
        'catalog "lake" {\n  uri = "sqlite:///taken/catalog.db"\n}\ncatalog "fine" {}\nengine "local" {}\n',
        encoding="utf-8",
    )
    done = flareiac(tmp_path, "doctor")
    assert done.code == 1
    lines = {
        line.split()[1].rstrip(":"): line.split()[0]
        for line in done.out.splitlines()
        if not line.startswith(" ")
    }
    assert lines["catalog.lake"] == "fail"
    assert lines["catalog.fine"] == "ok"
    assert lines["engine.local"] == "ok"
    assert lines["state"] == "ok"
    assert "fix:" in done.out


def test_what_is_wrong_in_the_configuration_is_not_examined(tmp_path: Path) -> None:
    text = 'catalog "r" {\n  type = "rest"\n  uri = "https://user:pw@h/x"\n}\n'
    (tmp_path / "main.flare.hcl").write_text(text, encoding="utf-8")
    done = flareiac(tmp_path, "doctor")
    assert done.code == 1
    assert "FIX099" not in done.text
    assert "catalog.r:" not in done.out
    assert "pw@" not in done.out


def test_outside_of_a_project_the_machine_alone_is_examined(tmp_path: Path) -> None:
    done = flareiac(tmp_path, "doctor")
    assert done.code == 0, done.text
    assert done.out.startswith("ok    project: ")
    assert not any(line.startswith("fail") for line in done.out.splitlines())
    assert "FIC002" not in done.text
    assert flareiac(tmp_path, "plan").code == 1, "it is a mistake for every other command"


PG = (
    'catalog "lake" {\n  type = "sql"\n  uri = "postgresql://u@127.0.0.1:1/x"\n  credential = CREDENTIAL\n}\n'
)
SECRETS = 'variable "env" {}\nsecret "pg" {\n  env = "FLAREIAC_TEST_NOT_SET"\n}\n'


def test_a_secret_of_another_environment_may_be_missing(tmp_path: Path) -> None:
    chosen = PG.replace("CREDENTIAL", 'var.env == "prod" ? secret.pg : null')
    (tmp_path / "main.flare.hcl").write_text(SECRETS + chosen, encoding="utf-8")
    elsewhere, here = (flareiac(tmp_path, "doctor", f"-var=env={env}").out for env in ("dev", "prod"))
    assert "ok    secret.pg: nothing uses it here" in elsewhere
    assert "fail  secret.pg: A secret is not available" in here


TABLE = 'table "a" {\n  namespace = "n"\n  column "id" { type = "long" }\nMAINTAINED}\n'
ENGINE = 'engine "local" {}\n'
STREAM = """
stream "s" {
  rate {
    rows_per_second = 1
  }
}
job "s" {
  checkpoint = checkpoint.s
  input "s" { stream = stream.s }
  output "o" {
    table = table.a
    from  = "s"
  }
}
checkpoint "s" {}
"""


@pytest.mark.parametrize(
    ("text", "code"),
    [
        pytest.param(TABLE.replace("MAINTAINED", ""), 0, id="tables alone"),
        pytest.param('catalog "lake" {}\n', 0, id="a catalog alone"),
        pytest.param('output "o" { value = 1 }\n', 0, id="no resource"),
        pytest.param(TABLE.replace("MAINTAINED", "  compaction {}\n"), 1, id="maintenance"),
        pytest.param(TABLE.replace("MAINTAINED", "") + ENGINE, 1, id="an engine"),
        pytest.param(TABLE.replace("MAINTAINED", "") + STREAM, 1, id="a job"),
    ],
)
def test_jars_are_asked_for_where_something_runs_in_spark(tmp_path: Path, text: str, code: int) -> None:
    (tmp_path / "main.flare.hcl").write_text(text, encoding="utf-8")
    done = flareiac(tmp_path, "doctor")
    assert done.code == code, done.text
    assert ("fail  jars: The jars of the project are not locked" in done.out) == bool(code), done.text
