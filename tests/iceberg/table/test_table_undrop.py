"""A dropped table comes back with its rows, and nothing else is ever replaced by it."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlparse

import pytest

from flareiac.sdk.actions import Revive
from flareiac.sdk.capabilities import Undroppable
from flareiac.sdk.changes import Action
from flareiac.sdk.requests import ApplyRequest
from flareiac.sdk.results import Applied, NotApplied, Outcome, Recorded
from tests.iceberg.lake import CATALOG, Lake, columns

BODY: dict[str, Any] = {"namespace": "n", "column": columns(id="long"), "on_destroy": "drop"}
Dropped: TypeAlias = tuple[Lake, ApplyRequest[Revive]]


@pytest.fixture(params=[2, 3])
def dropped(lake: Lake, request: pytest.FixtureRequest) -> Dropped:
    """A table with a row, and one commit after the last apply, that was dropped; and what asks for it."""
    lake.apply("table.t", BODY)
    lake.append("n.t", [{"id": 1}])
    lake.apply("table.t", BODY | {"format_version": request.param})
    planned = lake.plan("table.t", None)
    asked = lake.deletion("table.t", planned)
    outcome = lake.session.driver("table").delete(asked)
    assert isinstance(outcome, Applied)
    assert outcome.revivable
    del lake.state["table.t"]
    recorded = Recorded(attributes=outcome.attributes, identity=outcome.identity)
    return lake, asked.with_action(Revive(recorded=recorded, then={}))


def revive(lake: Lake, request: ApplyRequest[Revive]) -> Outcome:
    driver = lake.session.driver("table")
    assert isinstance(driver, Undroppable)
    return driver.revive(request)


def test_it_is_back_with_its_rows_and_is_not_dropped_again(
    dropped: Dropped,
) -> None:
    lake, request = dropped
    assert lake.settle("table.t", request) is None
    outcome = revive(lake, request)
    assert isinstance(outcome, Applied)
    assert outcome.messages[0] == "lake.n.t is back, with 1 row"
    assert lake.rows("n.t") == [{"id": 1}]
    again, settled = revive(lake, request), lake.settle("table.t", request)
    assert isinstance(again, Applied)
    assert isinstance(settled, Applied)
    lake.record("table.t", outcome)
    assert lake.plan("table.t", None).action is Action.FORGET
    assert lake.plan("table.t", BODY).steps[0].text == "removing the block will drop the table from now on"


def test_another_table_of_the_name_stays(dropped: Dropped) -> None:
    lake, request = dropped
    lake.apply("table.u", BODY | {"name": "t", "column": columns(other="string")})
    outcome = revive(lake, request)
    assert isinstance(outcome, NotApplied)
    assert [item.code for item in outcome.diagnostics] == ["FII078"]
    assert lake.rows("n.t") == []


def test_metadata_that_is_gone_or_broken_is_told(dropped: Dropped) -> None:
    lake, request = dropped
    location = Path(urlparse(request.action.recorded.identity["metadata_location"]).path)
    content = location.read_text()
    another = content.replace(
        request.action.recorded.identity["uuid"], "00000000-0000-0000-0000-000000000000"
    )
    for damaged, code in ((None, "FII089"), ("{", "FII089"), (another, "FII090")):
        location.unlink(missing_ok=True)
        if damaged is not None:
            location.write_text(damaged)
        outcome = revive(lake, request)
        assert isinstance(outcome, NotApplied), damaged
        assert [item.code for item in outcome.diagnostics] == [code]
    assert not lake.other().table_exists("n.t")


WRITTEN = pytest.mark.parametrize("dropped", [2], indirect=True)
"""Drops a table of version 2: other programs write to it, which pyiceberg does to this version alone."""


def refused(lake: Lake, request: ApplyRequest[Revive]) -> list[str]:
    outcome = revive(lake, request)
    assert isinstance(outcome, NotApplied)
    assert not lake.other().table_exists("n.t")
    return [item.code for item in outcome.diagnostics]


def known(request: ApplyRequest[Revive]) -> Path:
    return Path(urlparse(request.action.recorded.identity["metadata_location"]).path)


def unseen(request: ApplyRequest[Revive], **changed: str) -> ApplyRequest[Revive]:
    """The request of a state whose table somebody else dropped: it knows the table as of the last apply."""
    known = request.action.recorded
    identity = {name: value for name, value in known.identity.items() if name != "last_is_known"}
    recorded = replace(known, identity=identity | changed)
    return request.with_action(replace(request.action, recorded=recorded))


@WRITTEN
def test_under_another_name_it_is_not_entered_twice(dropped: Dropped) -> None:
    lake, request = dropped
    assert isinstance(revive(lake, request), Applied)
    lake.other().create_namespace("m")
    lake.other().rename_table("n.t", "m.u")
    lake.append("m.u", [{"id": 2}])
    assert refused(lake, request) == ["FII097"]
    assert lake.rows("m.u") == [{"id": 2}, {"id": 1}]


def test_what_was_never_committed_does_not_come_back(dropped: Dropped) -> None:
    """Two writers wrote their next metadata when the table went; their commits failed, and they will try
    again.
    """
    lake, request = dropped
    last = known(request)
    number = int(last.name.partition("-")[0]) + 1
    found = json.loads(last.read_text())
    found["metadata-log"] = [
        *found["metadata-log"],
        {"timestamp-ms": found["last-updated-ms"], "metadata-file": last.as_uri()},
    ]
    for name in ("one", "two"):
        (last.parent / f"{number:05d}-{name}.metadata.json").write_text(
            json.dumps(found | {"properties": {"theirs": name}})
        )
    assert isinstance(revive(lake, request), Applied)
    assert "theirs" not in lake.table("n.t").properties


@WRITTEN
def test_what_others_wrote_later_comes_back_too(dropped: Dropped) -> None:
    lake, request = dropped
    assert isinstance(revive(lake, request), Applied)
    for number in (2, 3):
        lake.append("n.t", [{"id": number}])
    lake.other().drop_table("n.t")
    folder = known(request).parent
    (folder / "00099-torn.metadata.json").write_text("{")
    outcome = revive(lake, unseen(request))
    assert isinstance(outcome, Applied)
    assert outcome.messages[0] == "lake.n.t is back, with 3 rows"
    assert "is its last metadata file; the state knew" in outcome.messages[1]
    assert sorted(row["id"] for row in lake.rows("n.t")) == [1, 2, 3]


@WRITTEN
def test_the_way_to_a_later_file_may_be_longer_than_its_log(
    dropped: Dropped,
) -> None:
    lake, request = dropped
    assert isinstance(revive(lake, request), Applied)
    with lake.table("n.t").transaction() as change:
        change.set_properties({"write.metadata.previous-versions-max": "1"})
    for number in (2, 3, 4):
        lake.append("n.t", [{"id": number}])
    lake.other().drop_table("n.t")
    outcome = revive(lake, unseen(request))
    assert isinstance(outcome, Applied)
    assert outcome.messages[0] == "lake.n.t is back, with 4 rows"


@WRITTEN
def test_when_the_known_file_was_cleaned_up_the_last_one_counts(
    dropped: Dropped,
) -> None:
    lake, request = dropped
    assert isinstance(revive(lake, request), Applied)
    lake.append("n.t", [{"id": 2}])
    lake.other().drop_table("n.t")
    known(request).unlink()
    outcome = revive(lake, unseen(request))
    assert isinstance(outcome, Applied)
    assert outcome.messages[0] == "lake.n.t is back, with 2 rows"


@WRITTEN
def test_a_later_file_of_another_course_of_things_is_passed_over(
    dropped: Dropped,
) -> None:
    """The table was set back by registering an earlier file, and went on from there."""
    lake, request = dropped
    assert isinstance(revive(lake, request), Applied)
    abandoned = lake.table("n.t").metadata_location
    lake.append("n.t", [{"id": 2}])
    lake.append("n.t", [{"id": 3}])
    lake.other().drop_table("n.t")
    lake.other().register_table("n.t", abandoned)
    lake.append("n.t", [{"id": 4}])
    last = lake.table("n.t").metadata_location
    lake.other().drop_table("n.t")
    outcome = revive(lake, unseen(request, metadata_location=last))
    assert isinstance(outcome, Applied)
    assert "was passed over: it is of this table and later, but was not made from" in outcome.messages[1]
    assert sorted(row["id"] for row in lake.rows("n.t")) == [1, 4]


@WRITTEN
def test_two_last_files_are_for_a_person_to_decide(dropped: Dropped) -> None:
    lake, request = dropped
    assert isinstance(revive(lake, request), Applied)
    lake.append("n.t", [{"id": 2}])
    last = Path(urlparse(lake.table("n.t").metadata_location).path)
    lake.other().drop_table("n.t")
    (last.parent / f"{last.name.partition('-')[0]}-lost.metadata.json").write_text(last.read_text())
    assert refused(lake, unseen(request)) == ["FII098"]


@pytest.mark.parametrize("lost", ["data/*.parquet", "metadata/*-m0.avro", "metadata/snap-*.avro"])
def test_a_table_without_its_files_does_not_come_back(dropped: Dropped, lost: str) -> None:
    lake, request = dropped
    for file in known(request).parents[1].glob(lost):
        file.unlink()
    assert refused(lake, request) == ["FII096"]


def test_a_catalog_that_means_another_place_by_now_is_not_touched(dropped: Dropped, tmp_path: Path) -> None:
    lake, request = dropped
    then = request.references[CATALOG].attributes
    moved = {**then, "uri": f"sqlite:///{tmp_path}/other.db", "place": f"sqlite:///{tmp_path}/other.db#lake"}
    now = {CATALOG: replace(request.references[CATALOG], attributes=moved)}
    asked = request.with_action(replace(request.action, then={CATALOG: then}))
    assert refused(lake, replace(asked, references=now)) == ["FII099"]
    assert not (tmp_path / "other.db").exists()


def test_a_namespace_that_is_gone_is_made_again(dropped: Dropped) -> None:
    lake, request = dropped
    lake.other().drop_namespace("n")
    assert isinstance(revive(lake, request), Applied)
    assert lake.rows("n.t") == [{"id": 1}]


def test_a_missing_volume_is_no_empty_catalog(dropped: Dropped) -> None:
    lake, request = dropped
    folder = lake.database.parent
    folder.rename(folder.with_name("unmounted"))
    outcome = revive(lake, unseen(request))
    assert isinstance(outcome, NotApplied)
    assert [item.code for item in outcome.diagnostics] == ["FII010"]
    assert not folder.exists()
