"""The built package carries its documentation, which ``flareiac explain`` prints, its licence and notice."""

import subprocess
import sys
import zipfile
from pathlib import Path

from tests.docs.pages import DOCS, ROOT


def test_the_wheel_contains_every_page_and_reference(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    wanted = {f"flareiac/docs/{page.relative_to(DOCS)}" for page in DOCS.rglob("*") if page.is_file()}
    wanted |= {f"flareiac_{name}/REFERENCE.md" for name in ("iceberg", "secrets", "spark")}
    assert wanted - names == set()
    licences = {name.rpartition("/")[2] for name in names if ".dist-info/licenses/" in name}
    assert licences == {"LICENSE", "NOTICE"}
