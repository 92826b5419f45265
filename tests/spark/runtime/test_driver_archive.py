"""The driver as an archive: what is in it, and that equal contents are equal bytes."""

import subprocess
import sys
from pathlib import Path

from flareiac.sdk.table_tasks import GROUP
from flareiac_spark.runtime.driver_archive import driver_archive

LOOK = """
import sys
from importlib.metadata import entry_points
from importlib.resources import files
from flareiac.sdk.table_tasks import performer_of
import flareiac_spark.driver.job_runner, flareiac_spark.control
assert "class PlanText" in files("flareiac_spark.driver").joinpath("PlanText.java").read_text()
assert flareiac_spark.__path__[0].startswith(sys.argv[1]), flareiac_spark.__path__
for entry in entry_points(group=sys.argv[2]):
    print(entry.name, performer_of(entry.name).kind)
"""


def test_equal_contents_are_equal_bytes_of_one_digest() -> None:
    first, second = driver_archive(), driver_archive()
    assert first.content == second.content
    assert first.digest == second.digest
    names = set(first.modules)
    assert {"flareiac_spark/driver/submitted.py", "flareiac/kernel/records.py"} <= names
    assert not [name for name in names if name.startswith(("flareiac/cli", "flareiac/app", "flareiac_state"))]


def test_table_tasks_are_found_in_the_archive_as_if_they_were_installed(tmp_path: Path) -> None:
    place = tmp_path / "driver.zip"
    place.write_bytes(driver_archive().content)
    program = f"import sys; sys.path.insert(0, {str(place)!r})"
    found = subprocess.run(
        [sys.executable, "-S", "-c", f"{program}\n{LOOK}", str(place), GROUP], capture_output=True, text=True
    )
    assert found.stderr == ""
    kinds = [line.split() for line in found.stdout.splitlines()]
    assert {name for name, _kind in kinds} >= {"rewrite_data_files", "expire_snapshots", "delete_rows"}
    assert all(name == kind for name, kind in kinds)
