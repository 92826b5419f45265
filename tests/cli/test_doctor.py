"""``doctor`` looks at everything that a project needs, and says what to do."""

from pathlib import Path

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
