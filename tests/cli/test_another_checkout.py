"""A plan that was saved in one checkout is applied in another one of the same files, as CI does."""

import json
import shutil
from pathlib import Path

import pytest

from tests.support.command_line import flareiac

_FILES = {
    "main.flare.hcl": """
catalog "lake" {
  uri       = "sqlite:///lake/catalog.db"
  warehouse = "lake/warehouse"
}
secret "token" { file = "token.txt" }
namespace "web" {}
table "t" {
  namespace = namespace.web.name
  column "id" { type = "int" }
}
checkpoint "c" {}
""",
}


def checkout(folder: Path, **more: str) -> Path:
    folder.mkdir(parents=True)
    for name, text in {**_FILES, **{f"{key}.flare.hcl": value for key, value in more.items()}}.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_a_plan_without_a_state_acts_on_the_folder_it_is_applied_in(tmp_path: Path) -> None:
    first, second = checkout(tmp_path / "first"), checkout(tmp_path / "elsewhere" / "second")
    made = flareiac(first, "plan", f"-out={second}/saved.plan")
    assert made.code == 0, made.text
    content = (second / "saved.plan").read_text(encoding="utf-8")
    assert str(first) not in content
    shutil.rmtree(first)
    done = flareiac(second, "apply", "saved.plan")
    assert done.code == 0, done.text
    assert not first.exists()
    assert (second / "lake" / "catalog.db").exists()
    again = flareiac(second, "plan", "-detailed-exitcode")
    assert again.code == 0, again.text
    state = (second / ".flareiac" / "state" / "default").rglob("*.json")
    recorded = [path.read_text(encoding="utf-8") for path in state if path.name == "snapshot.json"]
    assert len(recorded) == 1
    resolved = [item["resolved"] for item in json.loads(recorded[0])["resources"]]
    assert str(second) not in json.dumps(resolved)


def test_a_project_that_moved_reaches_what_it_no_longer_declares(tmp_path: Path) -> None:
    first = checkout(tmp_path / "first", drop='namespace "gone" { on_destroy = "drop" }')
    assert flareiac(first, "apply", "-auto-approve").code == 0
    second = tmp_path / "second"
    first.rename(second)
    (second / "drop.flare.hcl").unlink()
    done = flareiac(second, "apply", "-auto-approve", "-target=namespace.gone")
    assert done.code == 0, done.text
    assert not first.exists()


def test_a_plan_goes_on_with_a_copy_of_the_state(tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    outside = f'catalog "out" {{\n  uri = "sqlite:///{lake}/c.db"\n  warehouse = "{lake}/w"\n}}\n'
    first = checkout(tmp_path / "first", out=outside)
    (first / "main.flare.hcl").write_text('namespace "web" { catalog = catalog.out }\n', encoding="utf-8")
    assert flareiac(first, "apply", "-auto-approve").code == 0
    table = '\ntable "t" {\n  catalog = catalog.out\n  namespace = "web"\n  column "id" { type = "int" }\n}\n'
    (first / "main.flare.hcl").write_text(
        'namespace "web" { catalog = catalog.out }\n' + table, encoding="utf-8"
    )
    assert flareiac(first, "plan", "-out=saved.plan").code == 0
    second = tmp_path / "second"
    shutil.copytree(first, second)
    shutil.rmtree(first)
    done = flareiac(second, "apply", "saved.plan")
    assert done.code == 0, done.text
    assert flareiac(second, "plan", "-detailed-exitcode").code == 0


@pytest.mark.parametrize(
    "warehouse", ["{root}/lake/warehouse", "file://{root}/lake/warehouse", "../lake/warehouse"]
)
def test_a_place_that_is_another_one_here_is_refused(tmp_path: Path, warehouse: str) -> None:
    first = tmp_path / "first"
    place = warehouse.format(root=first)
    text = (
        f'catalog "lake" {{\n uri = "sqlite:///lake/catalog.db"\n warehouse = "{place}"\n}}\nnamespace '
        '"web" {}\n'
    )
    for folder in (first, tmp_path / "elsewhere" / "second"):
        checkout(folder)
        (folder / "main.flare.hcl").write_text(text, encoding="utf-8")
    second = tmp_path / "elsewhere" / "second"
    assert flareiac(first, "plan", f"-out={second}/saved.plan").code == 0
    done = flareiac(second, "apply", "saved.plan")
    assert done.code == 6, done.text
    assert "catalog.lake: warehouse" in done.err
    assert not (second / "lake").exists()
    assert not (first / "lake").exists()


def test_a_copied_lake_is_not_taken_for_the_one_that_was_planned(tmp_path: Path) -> None:
    first = checkout(tmp_path / "first")
    assert flareiac(first, "apply", "-auto-approve").code == 0
    (first / "main.flare.hcl").write_text(
        _FILES["main.flare.hcl"].replace('"int"', '"long"'), encoding="utf-8"
    )
    assert flareiac(first, "plan", "-out=saved.plan").code == 0
    second = tmp_path / "second"
    shutil.copytree(first, second)
    done = flareiac(second, "apply", "saved.plan")
    assert done.code == 6, done.text
