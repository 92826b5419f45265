"""A plan that an earlier release saved is shown by this one as it was shown then, and one that cannot be read
says who wrote it.

``recorded/RELEASE-review.plan`` is never made again for a release that has one (``recording.record_plan``
made it). The folder beside it holds what commands print of it; FLAREIAC_UPDATE_GOLDEN=1 writes that again
where the words of a command change. Any other difference is a plan that is read as something else.
"""

import hashlib
import json
import os
import re
import shutil
from pathlib import Path
from typing import Any, Final

import pytest

import flareiac as package
from flareiac.kernel.data import canonical
from tests.compatibility.recording import ARCHIVES, REVIEW
from tests.formats.printed_checks import check_printed
from tests.support.command_line import flareiac

_PLANS: Final = sorted(ARCHIVES.glob(f"*-{REVIEW}.plan"))
_SHOWN: Final = {
    "show.txt": ("show",),
    "show-full.txt": ("show", "-detail=full", "-show-steps"),
    "show.json": ("show", "-json"),
    "report.md": ("report",),
    "report.json": ("report", "-format=json"),
    "report.html": ("report", "-format=html"),
}
_CODE: Final = re.compile(r"<(style|script)\b.*?</\1>", re.DOTALL)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A folder with nothing but the newest recorded plan: who reviews it has no project."""
    shutil.copy(_PLANS[-1], tmp_path / "saved.plan")
    return tmp_path


def _printed(root: Path, name: str) -> str:
    command, *options = _SHOWN[name]
    done = flareiac(root, command, *options, "saved.plan")
    assert done.code == 0, done.text
    text = done.out
    if name.endswith(".html"):
        return _CODE.sub("", text).replace("><", ">\n<")
    if name.endswith(".json"):
        return json.dumps(json.loads(text), indent=1, ensure_ascii=False) + "\n"
    return text


@pytest.mark.parametrize("plan", _PLANS, ids=lambda plan: plan.stem)
@pytest.mark.parametrize("name", _SHOWN)
def test_it_is_shown_as_it_was(plan: Path, name: str, tmp_path: Path) -> None:
    shutil.copy(plan, tmp_path / "saved.plan")
    recorded, shown = plan.with_suffix("") / name, _printed(tmp_path, name)
    assert "hunter2" not in shown
    shown = shown.replace(package.__version__, "RELEASE")
    if os.environ.get("FLAREIAC_UPDATE_GOLDEN"):
        recorded.parent.mkdir(exist_ok=True)
        recorded.write_text(shown, encoding="utf-8")
    assert recorded.read_text(encoding="utf-8") == shown


def test_this_release_is_recorded() -> None:
    assert f"{package.__version__}-{REVIEW}.plan" in {plan.name for plan in _PLANS}


def test_it_fits_the_schemas(saved: Path) -> None:
    check_printed("show-plan", _printed(saved, "show.json"))
    check_printed("report", _printed(saved, "report.json"))


def test_it_carries_the_versions_of_its_types(saved: Path) -> None:
    document = json.loads((saved / "saved.plan").read_text(encoding="utf-8"))
    of_resources = {each["type"] for each in document["resources"]}
    of_references = {each["type"] for each in document["references"].values()}
    assert document["types"].keys() == of_resources | of_references
    assert {each["type"]: each["schema_version"] for each in document["resources"]}.items() <= document[
        "types"
    ].items()


def _changed(root: Path, **fields: Any) -> str:
    """The answer to the plan with other fields at its top, signed again."""
    path = root / "saved.plan"
    document = {**json.loads(path.read_text(encoding="utf-8")), **fields}
    del document["digest"]
    document["digest"] = hashlib.sha256(canonical(document).encode()).hexdigest()[:32]
    path.write_text(json.dumps(document), encoding="utf-8")
    done = flareiac(root, "show", "-json", "saved.plan")
    if done.code == 0:
        return ""
    [diagnostic] = json.loads(done.out)["diagnostics"]
    assert diagnostic["code"] == "FIX032"
    return str(diagnostic["detail"])


def test_a_plan_that_is_signed_again_is_read(saved: Path) -> None:
    assert _changed(saved) == ""


@pytest.mark.parametrize("version", [5, 17])
def test_a_later_format_names_the_release_that_can_read_it(saved: Path, version: int) -> None:
    why = _changed(saved, format_version=version, flareiac_version="9.9.0")
    assert f"FlareIaC 9.9.0 wrote it in plan format {version}" in why
    assert "Install FlareIaC 9.9.0 or a later one, or make the plan again." in why


def test_a_format_that_is_no_longer_read_is_to_be_made_again(saved: Path) -> None:
    why = _changed(saved, format_version=1, flareiac_version="0.0.1")
    assert "FlareIaC 0.0.1 wrote it in plan format 1" in why
    assert "Make the plan again: flareiac plan -out=saved.plan." in why


def test_a_later_version_of_a_type_is_named(saved: Path) -> None:
    """Also of a type that only references have."""
    types = json.loads((saved / "saved.plan").read_text(encoding="utf-8"))["types"]
    why = _changed(saved, types={**types, "catalog": 99})
    assert "version 99 of the type catalog" in why


def test_a_type_that_is_not_installed_hides_what_it_called_sensitive(saved: Path) -> None:
    path = saved / "saved.plan"
    text = path.read_text(encoding="utf-8").replace('"type":"namespace"', '"type":"nowhere"')
    text = text.replace("namespace.demo", "nowhere.demo")
    path.write_text(text, encoding="utf-8")
    resources = json.loads(text)["resources"]
    for resource in resources:
        if resource["type"] == "nowhere":
            resource["sensitive"] = [["properties", "owner"]]
    assert _changed(saved, resources=resources, types={"nowhere": 3}) == ""
    for name in _SHOWN:
        text = _printed(saved, name)
        assert '"owner": "rides"' not in text, name
        assert 'owner = "rides"' not in text.replace("  ", " "), name
    assert "(sensitive value)" in _printed(saved, "show.json")
