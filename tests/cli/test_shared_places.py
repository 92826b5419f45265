"""Tables whose files are in one place: what one of them does not name is never taken for an orphan while
another may need it.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from pyiceberg.catalog.sql import SqlCatalog

from tests.support.command_line import flareiac

LAKE = """
catalog "x" {
  uri       = "sqlite:///lake/x.db"
  warehouse = "lake/warehouse"
}
catalog "y" {
  uri       = "sqlite:///lake/y.db"
  warehouse = "lake/warehouse"
}
engine "local" {}
"""


def table(label: str, name: str, *more: str, catalog: str = "x") -> str:
    namespace, _, own = name.partition(".")
    lines = "\n".join(f"  {line}" for line in more)
    return f"""
table "{label}" {{
  catalog   = catalog.{catalog}
  namespace = "{namespace}"
  name      = "{own}"
  column "id" {{ type = "long" }}
{lines}
}}
"""


ORPHANS = 'orphan_removal { every = "1ms" }'
"""Due on a table that was made a moment ago."""


class Here:
    """A project and its command line."""

    def __init__(self, root: Path) -> None:
        self.root, self.complaints = root, ""

    def apply(self, *blocks: str) -> None:
        self._write(blocks)
        done = flareiac(self.root, "apply", "-auto-approve", "-maintenance=exclude")
        assert done.code == 0, done.text

    def due(self, *blocks: str) -> dict[str, str]:
        """The summary of each orphan removal, due or not."""
        self._write(blocks)
        self.complaints = " ".join(flareiac(self.root, "plan", "-out=p").err.replace("│", " ").split())
        document: dict[str, Any] = json.loads(self.command("show", "-json", "p"))
        return {
            item["address"]: "due" if item["due"] else item["summary"] for item in document["flareiac"]["due"]
        }

    def command(self, *words: str) -> str:
        done = flareiac(self.root, *words)
        assert done.code == 0, done.text
        return done.out

    def refused(self, *words: str) -> str:
        done = flareiac(self.root, *words)
        assert done.code == 1, done.text
        return " ".join(done.err.replace("│", " ").split())

    def other(self, catalog: str) -> SqlCatalog:
        """Another program at one of the catalogs."""
        warehouse = (self.root / "lake/warehouse").as_uri()
        return SqlCatalog(
            catalog, uri=f"sqlite:///{self.root}/lake/{catalog}.db?timeout=15", warehouse=warehouse
        )

    def _write(self, blocks: tuple[str, ...]) -> None:
        (self.root / "main.flare.hcl").write_text(LAKE + "".join(blocks))


@pytest.fixture
def here(tmp_path: Path) -> Here:
    return Here(tmp_path)


def test_tables_of_one_name_in_two_catalogs_with_one_warehouse(here: Here) -> None:
    blocks = table("one", "n.t", ORPHANS), table("two", "n.t", catalog="y")
    here.apply(*blocks)
    assert here.due(*blocks) == {"table.one": "table.two has files in the same place"}


def test_a_location_around_the_folder_of_another_table(here: Here) -> None:
    blocks = table("outer", "n.u", 'location = "lake/warehouse/m"', ORPHANS), table("inner", "m.v", ORPHANS)
    here.apply(*blocks)
    assert here.due(*blocks) == {
        "table.inner": "table.outer has files in the same place",
        "table.outer": "table.inner has files in the same place",
    }


def test_a_table_at_the_former_name_of_one_that_moved(here: Here) -> None:
    here.apply(table("a", "m.v"))
    here.apply(table("a", "n.v"))
    blocks = table("a", "n.v"), table("b", "m.v", ORPHANS), table("c", "n.w", ORPHANS)
    here.apply(*blocks)
    assert here.due(*blocks) == {"table.b": "table.a has files in the same place", "table.c": "due"}


def test_a_neighbour_that_writes_elsewhere_by_its_properties(here: Here) -> None:
    writes = f'properties = {{ "write.data.path" = "{here.root}/lake/warehouse/n/t/more" }}'
    blocks = table("one", "n.t", ORPHANS), table("two", "n.u", writes)
    here.apply(*blocks)
    assert here.due(*blocks) == {"table.one": "table.two has files in the same place"}


def test_a_table_of_nobody_in_another_namespace(here: Here) -> None:
    here.apply(table("first", "n.first"))
    catalog = here.other("x")
    catalog.create_table("n.t", schema=catalog.load_table("n.first").schema())
    catalog.create_namespace("far")
    catalog.rename_table("n.t", "far.away")
    catalog.close()
    here.apply(block := table("one", "n.t", ORPHANS))
    assert here.due(block) == {"table.one": "the table far.away has files in the same place"}


def test_a_neighbour_that_comes_after_the_plan_is_seen_before_anything_is_removed(here: Here) -> None:
    here.apply(block := table("one", "n.t", ORPHANS))
    assert here.due(block) == {"table.one": "due"}
    catalog = here.other("x")
    own = catalog.load_table("n.t")
    catalog.create_namespace("far")
    catalog.create_table("far.guest", schema=own.schema(), location=f"{own.location()}/guest")
    catalog.close()
    assert "orphan_removal is no longer due: the table far.guest has files in the same place" in here.command(
        "apply", "p"
    )


def test_what_was_dropped_stays_until_it_is_purged(here: Here) -> None:
    old = table("old", "n.t", 'on_destroy = "drop"')
    here.apply(old)
    here.apply()
    new = table("new", "n.t", ORPHANS)
    here.apply(new)
    assert here.due(new) == {"table.new": "table.old (dropped) has files in the same place"}
    assert "flareiac undrop table.old" in here.complaints
    here.apply(renamed := table("new", "n.new", ORPHANS))
    here.command("undrop", "table.old")
    purged = table("old", "n.t", 'on_destroy = "purge"')
    here.apply(renamed, purged)
    assert here.due(renamed, purged) == {"table.new": "table.old has files in the same place"}
    here.apply(renamed)
    assert here.due(renamed) == {"table.new": "due"}


def test_what_was_purged_by_another_program_protects_nothing(here: Here) -> None:
    here.apply(block := table("one", "n.t", ORPHANS))
    catalog = here.other("x")
    catalog.drop_table("n.t")
    catalog.close()
    metadata = here.root / "lake/warehouse/n/t/metadata"
    files = {path: path.read_bytes() for path in metadata.iterdir()}
    here.apply(block)
    (summary,) = here.due(block).values()
    assert summary.startswith("table.one@")
    for path in files:
        path.unlink()
    assert here.due(block) == {"table.one": "due"}
    later = metadata / "00009-later.metadata.json"
    later.write_bytes(next(content for path, content in files.items() if path.name.endswith(".json")))
    assert here.due(block) == {"table.one": summary}


def test_what_was_replaced_is_named_and_can_be_given_up(here: Here) -> None:
    here.apply(block := table("one", "n.t", 'on_destroy = "drop"', ORPHANS))
    here.command("apply", "-auto-approve", "-maintenance=exclude", "-replace=table.one")
    (summary,) = here.due(block).values()
    name, _, told = summary.partition(" ")
    assert (name.partition("@")[0], told) == ("table.one", "(dropped) has files in the same place")
    assert (
        f"flareiac undrop {name}; to give it up, so that they may go: flareiac state rm {name}."
        in here.complaints
    )
    assert "its last metadata file is" in here.command("state", "rm", name)
    assert here.due(block) == {"table.one": "due"}
    assert "No such dropped resource" in here.refused("state", "rm", name)
    assert "is no longer in the state" in here.command("state", "rm", "table.one")


def test_a_table_that_is_about_to_get_another_name_is_no_neighbour_of_itself(here: Here) -> None:
    here.apply(table("one", "n.t", ORPHANS))
    assert here.due(table("one", "n.u", ORPHANS)) == {"table.one": "due"}


LANDING = (
    'stream "landing" {{\n  files {{\n    path = "{path}"\n    format = "json"\n  }}\n  column "id" '
    '{{ type = "long" }}\n}}\n'
)


def test_a_folder_that_a_stream_reads(here: Here) -> None:
    (here.root / "link").symlink_to(here.root / "lake/warehouse/n/t/landing")
    here.apply(own := table("one", "n.t", ORPHANS))
    inside = (
        "lake/warehouse/n/t/landing",
        "lake/warehouse/n/t/data/*/new",
        "link",
        f"file://{here.root}/lake/warehouse/n/t/landing",
    )
    for path in inside:
        assert here.due(own, LANDING.format(path=path)) == {
            "table.one": "stream.landing has files in the same place"
        }, path
    for path in ("landing", "lake/warehouse", "lake/warehouse/n/t2"):
        assert here.due(own, LANDING.format(path=path)) == {"table.one": "due"}, path


def test_a_folder_that_a_batch_job_reads(here: Here) -> None:
    (here.root / "lake/warehouse/n/t/code").mkdir(parents=True)
    (here.root / "lake/warehouse/n/t/code/made.py").write_text(
        "def made(spark, inputs, params):\n    return inputs['i']\n"
    )
    here.apply(own := table("one", "n.t", ORPHANS), out := table("out", "m.out"))
    files = (
        'files {\n      path = "lake/warehouse/n/t/in"\n      format = "json"\n      columns = { id = '
        '"long" }\n    }'
    )
    for read, step in ((files, 'sql = "SELECT id FROM i"'), ("table = table.out", 'python = "made:made"')):
        code = 'code = "lake/warehouse/n/t/code"' if "python" in step else ""
        job = f"""
job "j" {{
  mode = "batch"
  {code}
  input "i" {{
    {read}
  }}
  step "s" {{ {step} }}
  output "o" {{ table = table.out }}
}}
"""
        assert here.due(own, out, job) == {"table.one": "job.j has files in the same place"}


def test_a_lake_behind_a_link(here: Here) -> None:
    (here.root / "real").mkdir()
    (here.root / "lake").symlink_to(here.root / "real")
    here.apply(own := table("one", "n.t", ORPHANS))
    beside = LANDING.format(path="real/warehouse/n/t/landing")
    assert here.due(own, beside) == {"table.one": "stream.landing has files in the same place"}


def test_a_table_of_another_declared_catalog(here: Here) -> None:
    here.apply(own := table("one", "n.t", ORPHANS))
    catalog = here.other("y")
    catalog.create_namespace("far")
    catalog.create_table(
        "far.guest",
        schema=here.other("x").load_table("n.t").schema(),
        location=f"{here.root}/lake/warehouse/n/t/other",
    )
    catalog.close()
    assert here.due(own) == {"table.one": "the table far.guest of catalog.y has files in the same place"}


def test_an_unmanaged_table_that_writes_elsewhere_by_its_properties(here: Here) -> None:
    here.apply(own := table("one", "n.t", ORPHANS))
    catalog = here.other("x")
    catalog.create_table(
        "n.guest",
        schema=catalog.load_table("n.t").schema(),
        location=f"{here.root}/elsewhere",
        properties={"write.data.path": f"{here.root}/lake/warehouse/n/t/b_data"},
    )
    assert here.due(own) == {"table.one": "the table n.guest has files in the same place"}
    # Its metadata cannot be read: where it has files is not known.
    metadata = catalog.load_table("n.guest").metadata_location.removeprefix("file://")
    Path(metadata).write_text("{")
    catalog.close()
    assert here.due(own) == {"table.one": "what else the catalog holds is not known"}
    assert metadata in here.complaints
    Path(metadata).unlink()
    assert here.due(own) == {"table.one": "due"}
