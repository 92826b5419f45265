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
import flareiac_spark_runtime.driver.job_runner, flareiac_spark_runtime.control
assert "class PlanText" in files("flareiac_spark_runtime.driver").joinpath("PlanText.java").read_text()
assert flareiac_spark_runtime.__path__[0].startswith(sys.argv[1]), flareiac_spark_runtime.__path__
for entry in entry_points(group=sys.argv[2]):
    print(entry.name, performer_of(entry.name).kind)
"""


def test_equal_contents_are_equal_bytes_of_one_digest() -> None:
    first, second = driver_archive(), driver_archive()
    assert first.content == second.content
    assert first.digest == second.digest
    names = set(first.modules)
    assert {"flareiac_spark_runtime/submitted.py", "flareiac/kernel/records.py"} <= names
    beside = ("flareiac/cli", "flareiac_spark/", "flareiac_state")
    assert not [name for name in names if name.startswith(beside)]


def test_every_module_beside_spark_is_imported_from_the_archive_alone(tmp_path: Path) -> None:
    """A host of a cluster has Python and pyspark, which no module needs before Spark starts."""
    place = tmp_path / "driver.zip"
    archive = driver_archive()
    place.write_bytes(archive.content)
    names = sorted(
        name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for name in archive.modules
        if name.startswith("flareiac_spark_runtime/") and name.endswith(".py") and "__main__" not in name
    )
    assert len(names) > 100
    program = f"import sys; sys.path.insert(0, {str(place)!r})\nfrom importlib import import_module\n"
    program += f"for name in {names!r}: assert import_module(name).__file__.startswith({str(place)!r}), name"
    ran = subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True)
    assert ran.stderr == ""


def test_a_driver_of_the_last_release_starts_itself_again_by_its_old_name(tmp_path: Path) -> None:
    old = subprocess.run(
        [sys.executable, "-m", "flareiac_spark.driver", str(tmp_path)], capture_output=True, text=True
    )
    assert (old.returncode, old.stderr) == (
        1,
        f"flareiac driver refused to start: {tmp_path} is not a control directory\n",
    )


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


def test_a_driver_of_the_last_release_opens_a_kind_that_it_did_not_know_yet() -> None:
    """The package was upgraded beside it: the kind stands on the classes that the driver has in memory."""
    program = """
import sys
from importlib import import_module
for name in ("storage", "sources.kept", "sources.resolved"):
    module = import_module(f"flareiac_spark_runtime.{name}")
    sys.modules[f"flareiac_spark.{name}"] = module
loaded = sys.modules["flareiac_spark.sources.resolved"]
for name in [name for name in sys.modules if name.startswith("flareiac_spark_runtime")]:
    del sys.modules[name]
for kind in ("files", "kafka", "rate", "table"):
    found = import_module(f"flareiac_spark.sources.{kind}.resolved").KIND
    assert issubclass(found, loaded.ResolvedSource), kind
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ran.stderr == ""
