"""``schema`` from the command line: names, the language, other documents, and a wrong name."""

import json
from pathlib import Path

from tests.docs.pages import DOCS
from tests.support.command_line import flareiac

PRINTED = DOCS / "formats" / "printed"


def test_the_names_are_those_of_the_files(tmp_path: Path) -> None:
    done = flareiac(tmp_path, "schema")
    names = [line.split()[0] for line in done.out.splitlines()]
    assert names[0] == "language"
    assert sorted(names) == sorted(path.stem for path in PRINTED.iterdir())


def test_each_is_printed_as_the_package_has_it(tmp_path: Path) -> None:
    for path in PRINTED.iterdir():
        for words in ((path.stem,), ("-json", path.stem)) if path.stem != "language" else ():
            done = flareiac(tmp_path, "schema", *words)
            assert (done.code, done.out) == (0, path.read_text(encoding="utf-8"))


def test_json_alone_is_the_language(tmp_path: Path) -> None:
    """With the blocks and backends of the providers of these tests, which the package does not have."""
    done = flareiac(tmp_path, "schema", "-json")
    printed = json.loads(done.out)
    packaged = json.loads((PRINTED / "language.json").read_text(encoding="utf-8"))
    assert "broom" in printed["properties"]
    for part in ("$defs", "properties"):
        same = packaged[part].keys() - {"flareiac"}
        assert {name: printed[part][name] for name in same} == {name: packaged[part][name] for name in same}
    assert printed == json.loads(flareiac(tmp_path, "schema", "language").out)


def test_a_wrong_name_is_usage(tmp_path: Path) -> None:
    done = flareiac(tmp_path, "schema", "-json", "langage")
    assert done.code == 64
    assert 'Did you mean "language"?' in json.loads(done.out)["diagnostics"][0]["detail"]
