"""Inputs of one place that are read in two ways are two: a query that turns from one to the other changes."""

from pathlib import Path

import pytest

from flareiac.sdk.changes import Action
from flareiac_spark.change.changes import JobChange, MetadataOnly, Restart, ResultsChange, TakenAsSame
from flareiac_spark.change.diff import changes
from flareiac_spark.change.recorded_definition import reworded_definition
from flareiac_spark.definition.input_identity import input_identities, paired_inputs
from tests.spark.declared import LAKE, Loaded, loaded, proposal, running

COLUMNS = {"k": "string", "v": "long", "w": "long", "ts": "timestamptz"}
LATE = '  watermark = {\n    column = "ts"\n    delay  = "10m"\n  }'
JOB = """
kafka "main" { bootstrap_servers = "a:9092" }
job "x" {
  checkpoint = checkpoint.x
  input "a" { stream = stream.first }
  input "b" { stream = stream.second }
  step "s" { sql = "SELECT ts AS hour, v AS n FROM a" }
  output "hourly" {
    table = table.hourly
    mode  = "append"
  }
}
"""
STATEFUL = JOB.replace("ts AS hour, v AS n", "max(ts) AS hour, sum(v) AS n").replace('"append"', '"complete"')
BATCH = """
job "x" {
  mode = "batch"
  input "a" {
    files {
      path    = "in"
      format  = "json"
      columns = { region = "string", name = "string" }
    }
  }
  input "b" {
    files {
      path    = "in"
      format  = "csv"
      columns = { region = "string", name = "string" }
    }
  }
  step "s" { sql = "SELECT region, name FROM a" }
  output "regions" {
    table = table.regions
    mode  = "overwrite"
  }
}
"""


def files(
    name: str, *, columns: dict[str, str] = COLUMNS, form: str = "csv", more: str = "", of: str = ""
) -> str:
    rows = "\n".join(f'  column "{column}" {{ type = "{kind}" }}' for column, kind in columns.items())
    source = f'  files {{\n    path   = "landing/k"\n    format = "{form}"\n{of}\n  }}'
    return f'stream "{name}" {{\n{source}\n{rows}\n{more}\n}}\n'


def topic(name: str, *, form: str = "csv", more: str = "", columns: dict[str, str] = COLUMNS) -> str:
    rows = "\n".join(f'  column "{column}" {{ type = "{kind}" }}' for column, kind in columns.items())
    kafka = f'  kafka {{\n    topic  = "t"\n    format = "{form}"\n{more}\n  }}'
    return f'stream "{name}" {{\n{kafka}\n{rows}\n}}\n'


TURNED = {"k": "string", "w": "long", "v": "long", "ts": "timestamptz"}
WAYS = {
    "another order of columns": (files("first"), files("second", columns=TURNED)),
    "another format": (files("first"), files("second", form="json")),
    "another type": (files("first"), files("second", columns={**COLUMNS, "v": "int"})),
    "a watermark": (files("first"), files("second", more=LATE)),
    "bad records": (files("first"), files("second", more='  bad_records = { action = "drop" }')),
    "an option": (files("first"), files("second", of='    options = { "mode" = "PERMISSIVE" }')),
    "a topic's format": (topic("first"), topic("second", form="json")),
    "a topic's columns": (topic("first"), topic("second", columns=TURNED)),
    "a topic's isolation": (topic("first"), topic("second", more='    isolation_level = "read_uncommitted"')),
}
ALIKE = {"equal": (files("first"), files("second")), "equal topics": (topic("first"), topic("second"))}


def of(text: str, root: Path) -> Loaded:
    found = loaded(text, root)
    assert not [item for item in found.diagnostics if item.severity == "error"]
    return found


def changes_of(old: Loaded, new: Loaded, *, state: bool) -> list[JobChange]:
    facts = running(operators=("stateStoreSave",) if state else ())
    return [item for item in changes(old.job(), new.job(), facts) if not isinstance(item, MetadataOnly)]


def both(blocks: tuple[str, str], root: Path, *, state: bool) -> tuple[Loaded, Loaded]:
    """The job over the first stream, and over the second one."""
    text = LAKE + "".join(blocks) + (STATEFUL if state else JOB)
    return of(text, root), of(text.replace("FROM a", "FROM b"), root)


@pytest.mark.parametrize("state", [True, False])
@pytest.mark.parametrize("way", WAYS)
def test_a_query_that_turns_to_the_other_stream_changes(way: str, state: bool, tmp_path: Path) -> None:
    old, new = both(WAYS[way], tmp_path, state=state)
    for before, after in ((old, new), (new, old)):
        found = changes_of(before, after, state=state)
        assert any(isinstance(item, ResultsChange if state else Restart) for item in found), found
        assert not any(isinstance(item, TakenAsSame) for item in found)
    assert proposal(old, old, running()).action is Action.NO_OP, "what is recorded plans no change"


@pytest.mark.parametrize("state", [True, False])
@pytest.mark.parametrize("way", ALIKE)
def test_streams_that_are_read_alike_are_one(way: str, state: bool, tmp_path: Path) -> None:
    old, new = both(ALIKE[way], tmp_path, state=state)
    assert {type(item) for item in changes_of(old, new, state=state)} == {TakenAsSame}


@pytest.mark.parametrize("way", WAYS)
def test_inputs_that_are_renamed_stay_who_they_are(way: str, tmp_path: Path) -> None:
    old, _new = both(WAYS[way], tmp_path, state=True)
    text = (tmp_path / "main.flare.hcl").read_text()
    swapped = (
        text.replace("FROM b", "FROM y").replace('input "a"', 'input "y"').replace('input "b"', 'input "x"')
    )
    new = of(swapped, tmp_path)
    assert paired_inputs(old.job(), new.job()) == {"y": "a", "x": "b"}
    before, after = input_identities(old.job(), new.job())
    assert len({*before.values(), *after.values()}) == 2
    assert {type(item) for item in changes_of(old, new, state=True)} == {TakenAsSame}
    recorded = reworded_definition(old.job(), new.job())
    assert [f"{item.stream}" for item in recorded.streams.values()] == ["stream.first", "stream.second"]


def test_files_that_a_batch_reads_in_two_ways_are_two(tmp_path: Path) -> None:
    old, new = of(LAKE + BATCH, tmp_path), of(LAKE + BATCH.replace("FROM a", "FROM b"), tmp_path)
    assert any(isinstance(item, Restart) for item in changes(old.job(), new.job(), running()))


def test_an_input_whose_reading_changes_is_judged_by_itself(tmp_path: Path) -> None:
    first, _second = WAYS["another format"]
    old, _new = both((first, files("second", form="json")), tmp_path, state=True)
    changed, _ = both(
        (files("first", of='    options = { "sep" = ";" }'), files("second", form="json")),
        tmp_path,
        state=True,
    )
    before, after = input_identities(old.job(), changed.job())
    assert before == after
    found = changes_of(old, changed, state=True)
    assert [item.path[:2] for item in found] == [("inputs", "a")], found
