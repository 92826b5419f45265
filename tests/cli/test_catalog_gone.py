"""A catalog that is gone is not an empty one: nothing that was in it is taken for dropped, and no saved plan
makes another one in its place.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField

from tests.support.command_line import Ended, flareiac

ID = '  column "id" { type = "long" }\n'
BLOCKS = {
    "n": 'namespace "n" {}\n',
    "e": 'namespace "e" { on_destroy = "drop" }\n',
    "t": f'table "t" {{\n  namespace = "n"\n{ID}  on_destroy = "drop"\n}}\n',
    "kept": f'table "kept" {{\n  namespace = "n"\n{ID}}}\n',
}
"""The blocks that are applied before the plan."""
EDITS: dict[str, dict[str, str]] = {
    "create namespace": {"more": 'namespace "more" {}\n'},
    "update namespace": {"n": 'namespace "n" { properties = { a = "1" } }\n'},
    "drop namespace": {"e": ""},
    "forget namespace": {"n": ""},
    "import namespace": {"x": 'namespace "x" {}\nimport {\n  to = namespace.x\n  id = "lake.x"\n}\n'},
    "create table": {"more": f'table "more" {{\n  namespace = "n"\n{ID}}}\n'},
    "create table and namespace": {"more": f'table "more" {{\n  namespace = "m"\n{ID}}}\n'},
    "add column": {"t": BLOCKS["t"].replace(ID, ID + ID.replace("id", "k"))},
    "rename column": {"t": BLOCKS["t"].replace(ID, ID.replace("id", "k") + '  renamed = { id = "k" }\n')},
    "move table": {"t": BLOCKS["t"].replace('"t" {\n', '"t" {\n  name = "u"\n')},
    "drop table": {"t": ""},
    "forget table": {"kept": ""},
    "import table": {
        "x": f'table "x" {{\n  namespace = "x"\n{ID}}}\nimport {{\n  to = table.x\n  id = "lake.x.x"\n}}\n'
    },
}
OPTIONS = {"add column": ["-replace=table.t"]}
"""Once as an update, once as a replacement."""


def write(root: Path, blocks: dict[str, str]) -> None:
    text = 'catalog "lake" {}\n' + "".join(blocks.values())
    (root / "main.flare.hcl").write_text(text, encoding="utf-8")


def lake_of(root: Path) -> Path:
    return root / ".flareiac/lake/default"


def other(root: Path) -> SqlCatalog:
    """Another program's view of the catalog, which makes it where it is not there."""
    lake_of(root).mkdir(parents=True, exist_ok=True)
    return SqlCatalog("lake", uri=f"sqlite:///{lake_of(root)}/catalog.db", warehouse=lake_of(root).as_uri())


def stored(root: Path) -> dict[str, bytes]:
    """Everything that is kept but locks."""
    found = (root / ".flareiac").rglob("*")
    return {str(path): path.read_bytes() for path in found if path.is_file() and "lock" not in path.name}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("project")
    write(root, BLOCKS)
    assert flareiac(root, "apply", "-auto-approve").code == 0
    catalog = other(root)
    catalog.create_namespace("x")
    catalog.create_table("x.x", Schema(NestedField(1, "id", LongType(), required=False)))
    catalog.close()
    return root


@pytest.fixture(params=["file", "folder"])
def gone(request: pytest.FixtureRequest, project: Path) -> Iterator[Path]:
    """Takes the catalog away, until the test is over."""
    place = lake_of(project) / "catalog.db" if request.param == "file" else lake_of(project).parent
    away = project / "away"
    yield place
    if away.exists():
        away.rename(place)
    write(project, BLOCKS)


def refused(done: Ended) -> None:
    assert done.code not in (0, 7), done.text
    assert "dropped outside" not in done.text


@pytest.mark.parametrize(
    ("edit", "options"), [*((edit, []) for edit in EDITS), *((edit, OPTIONS[edit]) for edit in OPTIONS)]
)
def test_no_saved_plan_is_applied_without_its_catalog(
    project: Path, gone: Path, edit: str, options: list[str]
) -> None:
    write(project, BLOCKS | EDITS[edit])
    planned = flareiac(project, "plan", "-out=saved.plan", *options)
    assert planned.code == 0, planned.text
    assert "No changes" not in planned.out
    gone.rename(project / "away")
    before = stored(project)
    refused(flareiac(project, "apply", "saved.plan"))
    assert stored(project) == before
    assert not gone.exists()


@pytest.mark.parametrize(
    "words",
    [
        ("plan",),
        ("plan", "-target=namespace.more"),
        ("apply", "-auto-approve", "-target=namespace.more"),
        ("apply", "-auto-approve", "-target=table.more"),
        ("drift",),
        ("plan", "-destroy"),
        ("destroy", "-auto-approve"),
        ("apply", "-auto-approve"),
        ("undrop", "table.t"),
        ("import", "-from-catalog=lake.*.*"),
        ("table", "snapshots", "table.t"),
    ],
    ids=" ".join,
)
def test_every_command_says_that_nothing_is_known(project: Path, gone: Path, words: tuple[str, ...]) -> None:
    write(project, BLOCKS | EDITS["create namespace"] | {"w": EDITS["create table"]["more"]})
    gone.rename(project / "away")
    before = stored(project)
    done = flareiac(project, *words)
    refused(done)
    assert "[FII010]" in done.text or "[FII182]" in done.text, done.text
    assert stored(project) == before
    assert not gone.exists()


SAME_FILE = 'uri = "sqlite:///.flareiac/lake/default/catalog.db"'
MORE = 'namespace "more" { catalog = catalog.again }\n'
OTHER_BLOCKS = {
    "a second block": f'catalog "again" {{\n  name = "lake"\n  {SAME_FILE}\n}}\n{MORE}',
    "another name": f'catalog "again" {{\n  {SAME_FILE}\n}}\n{MORE}',
    "another path": f'catalog "again" {{\n  {SAME_FILE.replace("default", "linked")}\n}}\n{MORE}',
    "the same block": 'namespace "more" { catalog = catalog.lake }\n',
}
"""Beside the block through which everything was made."""


@pytest.mark.parametrize("refresh", ["changed", "full", "none"])
@pytest.mark.parametrize("others", OTHER_BLOCKS)
def test_no_block_makes_the_file_of_another_one_again(tmp_path: Path, others: str, refresh: str) -> None:
    lake = 'catalog "lake" {}\n'
    config, made = tmp_path / "main.flare.hcl", 'namespace "n" { catalog = catalog.lake }\n'
    config.write_text(lake + made, encoding="utf-8")
    assert flareiac(tmp_path, "apply", "-auto-approve").code == 0
    (lake_of(tmp_path).parent / "linked").symlink_to(lake_of(tmp_path))
    (lake_of(tmp_path) / "catalog.db").rename(tmp_path / "away")
    config.write_text(lake + made + OTHER_BLOCKS[others], encoding="utf-8")
    before = stored(tmp_path)
    done = flareiac(tmp_path, "apply", "-auto-approve", "-target=namespace.more", f"-refresh={refresh}")
    refused(done)
    assert "[FII010]" in done.text
    assert stored(tmp_path) == before
    refused(flareiac(tmp_path, "plan"))


@pytest.mark.parametrize("refresh", ["changed", "none"])
def test_a_renamed_block_does_not_make_its_file_again(tmp_path: Path, refresh: str) -> None:
    write(tmp_path, BLOCKS)
    assert flareiac(tmp_path, "apply", "-auto-approve").code == 0
    (lake_of(tmp_path) / "catalog.db").rename(tmp_path / "away")
    text = 'catalog "pond" { name = "lake" }\n' + "".join(BLOCKS.values()) + EDITS["create namespace"]["more"]
    (tmp_path / "main.flare.hcl").write_text(text, encoding="utf-8")
    before = stored(tmp_path)
    done = flareiac(tmp_path, "apply", "-auto-approve", "-target=namespace.more", f"-refresh={refresh}")
    refused(done)
    assert "[FII010]" in done.text
    assert stored(tmp_path) == before


def test_another_file_is_a_new_catalog(tmp_path: Path) -> None:
    """Records about one file say nothing of another one."""
    config, made = (
        tmp_path / "main.flare.hcl",
        'catalog "lake" {}\nnamespace "n" { catalog = catalog.lake }\n',
    )
    config.write_text(made, encoding="utf-8")
    assert flareiac(tmp_path, "apply", "-auto-approve").code == 0
    far = 'catalog "far" { uri = "sqlite:///far/catalog.db" }\nnamespace "f" { catalog = catalog.far }\n'
    config.write_text(made + far, encoding="utf-8")
    done = flareiac(tmp_path, "apply", "-auto-approve")
    assert "1 added, 0 changed, 0 destroyed" in done.out, done.text


def test_maintenance_waits(project: Path, gone: Path) -> None:
    write(project, BLOCKS | {"t": BLOCKS["t"].replace(ID, ID + "  orphan_removal {}\n")})
    gone.rename(project / "away")
    before = stored(project)
    done = flareiac(project, "maintain", "-auto-approve")
    assert "The maintenance of a resource is left out [FIP031]" in done.err
    assert "The catalog cannot be read" in done.err
    assert stored(project) == before


def test_what_others_own_is_not_known_either(project: Path, gone: Path) -> None:
    write(project, BLOCKS | {"d": 'data "table" "x" {\n  namespace = "x"\n  name = "x"\n}\n'})
    assert flareiac(project, "plan").code == 0
    gone.rename(project / "away")
    done = flareiac(project, "plan")
    refused(done)
    assert "[FII010]" in done.text


@pytest.mark.parametrize("edit", ["create namespace", "create table"])
def test_a_catalog_that_was_made_since_is_not_what_was_planned_for(tmp_path: Path, edit: str) -> None:
    write(tmp_path, EDITS[edit])
    assert flareiac(tmp_path, "plan", "-out=saved.plan").code == 0
    other(tmp_path).close()
    before = stored(tmp_path)
    done = flareiac(tmp_path, "apply", "saved.plan")
    assert (done.code, "without_catalog" in done.text) == (6, True), done.text
    assert stored(tmp_path) == before


@pytest.mark.parametrize("options", [[], ["-refresh=none"]])
@pytest.mark.parametrize("there", [False, True])
def test_a_first_plan_is_applied_from_its_file(tmp_path: Path, options: list[str], there: bool) -> None:
    write(tmp_path, BLOCKS)
    other(tmp_path).close() if there else None
    assert flareiac(tmp_path, "plan", "-out=saved.plan", *options).code == 0
    done = flareiac(tmp_path, "apply", "saved.plan")
    assert done.code == 0, done.text
    assert flareiac(tmp_path, "plan", "-detailed-exitcode").code == 0


def test_a_first_apply_that_was_killed_goes_on_with_its_plan(tmp_path: Path) -> None:
    """The catalog that is there by then is of its own making."""
    write(tmp_path, BLOCKS)
    assert flareiac(tmp_path, "plan", "-out=saved.plan").code == 0
    kill = {"FLAREIAC_KILL_AT": "apply.before-result:2"}
    assert flareiac(tmp_path, "apply", "saved.plan", "-parallelism=1", **kill).killed
    done = flareiac(tmp_path, "apply", "saved.plan")
    assert done.code == 0, done.text
    assert flareiac(tmp_path, "plan", "-detailed-exitcode").code == 0


def test_files_are_no_orphans_while_another_catalog_is_gone(tmp_path: Path) -> None:
    """A table of that catalog may have its files in the same place."""
    blocks = {
        "far": 'catalog "far" { uri = "sqlite:///far/catalog.db" }\n',
        "f": 'namespace "f" { catalog = catalog.far }\n',
        "t": f'table "t" {{\n  catalog = catalog.lake\n  namespace = "n"\n{ID}  orphan_removal {{}}\n}}\n',
    }
    write(tmp_path, blocks | {"f": ""})
    assert flareiac(tmp_path, "apply", "-auto-approve").code == 0
    assert "not known" not in flareiac(tmp_path, "plan").text, "a catalog that is not made yet has no tables"
    write(tmp_path, blocks)
    assert flareiac(tmp_path, "apply", "-auto-approve", "-maintenance=exclude").code == 0
    (tmp_path / "far").rename(tmp_path / "away")
    done = flareiac(tmp_path, "plan", "-maintenance=only")
    assert "What was in it is not known" in done.text, done.text


def test_a_catalog_that_is_lost_for_good_is_made_again_by_hand(tmp_path: Path) -> None:
    """As the page of FII010 says: then tables are missing, and those whose files are there can come back."""
    write(tmp_path, BLOCKS)
    assert flareiac(tmp_path, "apply", "-auto-approve").code == 0
    (lake_of(tmp_path) / "catalog.db").unlink()
    other(tmp_path).close()
    assert "the table was dropped outside of FlareIaC" in flareiac(tmp_path, "plan").out
    for name in ("t", "kept"):
        assert "is back" in flareiac(tmp_path, "undrop", f"table.{name}").out
    assert flareiac(tmp_path, "apply", "-auto-approve").code == 0
    assert flareiac(tmp_path, "plan", "-detailed-exitcode").code == 0
