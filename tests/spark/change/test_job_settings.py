"""Over state a setting or an option restarts a query only where it is known to leave every value as it is;
any other needs a word.
"""

import itertools
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flareiac.kernel.data import Reference
from flareiac.kernel.records import encode
from flareiac.sdk.changes import Effect
from flareiac_spark.change.changes import JobChange, NoEffect, Restart, ResultsChange
from flareiac_spark.change.diff import changes
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.settings import OUTPUT_OPTIONS, READER_OPTIONS, SETTINGS, VALUES, harmless
from flareiac_spark.sources.files.definition import FilesSource
from flareiac_spark.sources.table.definition import TableSource
from tests.spark.declared import LAKE, STATEFUL, STATELESS, loaded, proposal, running

AGGREGATES = ("stateStoreSave",)
PINNED = "spark.sql.shuffle.partitions"
NAMES = st.one_of(
    st.sampled_from([item.name + ("" if not item.name.endswith(".") else "some") for item in SETTINGS]),
    st.sampled_from(VALUES),
    st.from_regex(
        r"spark\.(sql\.|sql\.legacy\.|sql\.streaming\.|hadoop\.|shuffle\.|)[a-zA-Z]{1,12}(\.[a-zA-Z]{1,8})?",
        fullmatch=True,
    ),
    st.text(min_size=1, max_size=20),
)
"""Names of settings, with and without an entry."""


@pytest.fixture(scope="module")
def stateful(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Any]:
    engine = 'engine "local" { conf = { "spark.sql.session.timeZone" = "UTC" } }\n'
    return loaded(engine + LAKE + STATEFUL, tmp_path_factory.mktemp("stateful")).attributes()


def judged(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[JobChange]:
    return list(
        changes(JobDefinition.of(dict(old)), JobDefinition.of(dict(new)), running(operators=AGGREGATES))
    )


def right(found: list[JobChange], listed: bool) -> bool:
    return bool(found) and all(isinstance(change, Restart) for change in found) is listed


@given(name=NAMES)
def test_a_setting_of_a_job_without_an_entry_never_just_restarts(
    stateful: Mapping[str, Any], name: str
) -> None:
    found = judged(stateful, {**stateful, "conf": {**stateful["conf"], name: "other"}})
    assert (
        any(isinstance(change, NoEffect) for change in found)
        if name == PINNED
        else right(found, harmless(name, SETTINGS) is not None)
    )


@given(name=NAMES)
def test_a_setting_of_an_engine_without_an_entry_never_just_restarts(
    stateful: Mapping[str, Any], name: str
) -> None:
    application = stateful["application"]
    found = judged(
        stateful, {**stateful, "application": {**application, "conf": {**application["conf"], name: "other"}}}
    )
    assert right(found, name == PINNED or harmless(name, SETTINGS) is not None)


def test_removing_a_setting_is_changing_it(stateful: Mapping[str, Any]) -> None:
    for name in (
        *VALUES,
        "spark.sql.legacy.castComplexTypesToString.enabled",
        "spark.sql.streaming.noDataMicroBatches.enabled",
    ):
        before = {**stateful, "conf": {name: "true"}}
        assert [type(change) for change in judged(before, {**stateful, "conf": {}})] == [ResultsChange]


@pytest.mark.parametrize("moves", [False, True], ids=["one engine", "another engine"])
def test_a_setting_is_the_job_s_own_or_else_its_engine_s(stateful: Mapping[str, Any], moves: bool) -> None:
    """The value that counts is the one under which the query runs, from the job or its engine: the token shows that
    one.
    """
    name = "spark.sql.ansi.enabled"
    for values in itertools.product((None, "true", "false"), repeat=4):
        sides = [_with(stateful, name, *values[:2]), _with(stateful, name, *values[2:])]
        if moves:
            sides[1]["engine"] = Reference("engine.other")
        before, after = (own if own is not None else given for own, given in (values[:2], values[2:]))
        blocked = [
            (change.before, change.after) for change in judged(*sides) if isinstance(change, ResultsChange)
        ]
        assert blocked == ([(before, after)] if before != after else []), values


def _with(job: Mapping[str, Any], name: str, own: str | None, of_engine: str | None) -> dict[str, Any]:
    """The job with a setting of its own and one of its engine, each None for none."""
    application = {**job["application"], "conf": {} if of_engine is None else {name: of_engine}}
    return {
        **job,
        "conf": {**job["conf"], **({} if own is None else {name: own})},
        "application": application,
    }


@given(
    name=st.one_of(st.sampled_from([item.name for item in READER_OPTIONS]), st.text(min_size=1, max_size=12))
)
def test_a_reader_option_without_an_entry_never_just_restarts(stateful: Mapping[str, Any], name: str) -> None:
    source = stateful["inputs"]["orders"]["source"]
    found = judged(stateful, _reading(stateful, {**source, "options": {**source["options"], name: "9"}}))
    assert right(found, harmless(name, READER_OPTIONS) is not None)


SOURCES = (
    FilesSource(path="landing", format="json", options={}, max_files_per_trigger=None),
    TableSource(
        table=Reference("table.orders"),
        start_from="earliest",
        max_files_per_trigger=None,
        skip_deletes=False,
        skip_overwrites=False,
    ),
)
ELSEWHERE = (
    "kind",
    "path",
    "format",
    "options",
    "table",
    "start_from",
    "max_file_age",
    "reading",
    "reading_is_written",
)
"""Judged by rules of their own."""


@pytest.mark.parametrize(
    ("source", "name"),
    [(source, field.name) for source in SOURCES for field in fields(source) if field.name not in ELSEWHERE],
)
def test_an_attribute_of_a_source_without_an_entry_never_just_restarts(
    stateful: Mapping[str, Any], source: FilesSource | TableSource, name: str
) -> None:
    before = encode(source)
    after = {**before, name: 9 if before[name] is None else not before[name]}
    found = judged(_reading(stateful, before), _reading(stateful, after))
    assert right(found, harmless(name, source.harmless) is not None)


def _reading(job: Mapping[str, Any], source: Mapping[str, Any]) -> dict[str, Any]:
    return {**job, "inputs": {"orders": {**job["inputs"]["orders"], "source": source}}}


@given(
    name=st.one_of(st.sampled_from([item.name for item in OUTPUT_OPTIONS]), st.text(min_size=1, max_size=12))
)
def test_an_option_of_an_output_never_just_restarts(stateful: Mapping[str, Any], name: str) -> None:
    output = stateful["outputs"]["hourly"]
    found = judged(stateful, {**stateful, "outputs": {"hourly": {**output, "options": {name: "9"}}}})
    assert right(found, harmless(name, OUTPUT_OPTIONS) is not None)


def test_files_that_are_looked_up_from_elsewhere_are_a_change_over_state(stateful: Mapping[str, Any]) -> None:
    lookup = {
        "kind": "files",
        "path": "a",
        "format": "csv",
        "options": {},
        "columns": {"k": "string"},
        "column_order": ["k"],
    }
    before = {**stateful, "inputs": {**stateful["inputs"], "lookup": lookup}}
    for other in ({"path": "b"}, {"format": "json"}, {"options": {"header": "true"}}):
        after = {**stateful, "inputs": {**stateful["inputs"], "lookup": {**lookup, **other}}}
        assert any(isinstance(change, ResultsChange) for change in judged(before, after)), other


def test_packages_of_an_engine_may_hold_what_makes_values(stateful: Mapping[str, Any]) -> None:
    application = {**stateful["application"], "packages": ["org.example:functions:2"]}
    assert [type(change) for change in judged(stateful, {**stateful, "application": application})] == [
        ResultsChange
    ]


def test_packages_of_another_engine_may_hold_what_makes_values(stateful: Mapping[str, Any]) -> None:
    """Also where the job moves to an engine that has them."""
    moved = {**stateful, "engine": Reference("engine.other")}
    assert [type(change) for change in judged(stateful, moved)] == [Restart]
    for runtime in ({}, {"runtime_location": "elsewhere"}):
        application = {**stateful["application"], "packages": ["org.example:functions:2"], **runtime}
        after = {**moved, "application": application}
        assert [type(change) for change in judged(stateful, after)] == [Restart, ResultsChange]
        assert [type(change) for change in judged(after, stateful)] == [Restart, ResultsChange]


def test_without_state_a_setting_restarts(tmp_path: Path) -> None:
    before = loaded(LAKE + STATELESS, tmp_path)
    conf = 'checkpoint = checkpoint.x\n  conf = { "spark.sql.mapKeyDedupPolicy" = "LAST_WIN" }'
    after = loaded((LAKE + STATELESS).replace("checkpoint = checkpoint.x", conf), tmp_path)
    found = proposal(after, before, running())
    assert (found.blockers, [step.effect for step in found.steps]) == ((), [Effect.RESTART])


@pytest.mark.parametrize(
    "name",
    [
        "spark.sql.session.timezone",
        "spark.SQL.ansi.enabled",
        " spark.sql.caseSensitive",
        "spark.sql.shuffle.Partitions",
    ],
)
@pytest.mark.parametrize("place", ["job", "engine"])
def test_another_spelling_of_a_known_setting_is_an_error(name: str, place: str, tmp_path: Path) -> None:
    """Spark takes no notice of it: the writer would believe that it counts."""
    conf = f'conf = {{ "{name}" = "true" }}'
    engine = f'engine "local" {{ {conf if place == "engine" else ""} }}\n'
    job = (
        STATEFUL.replace("checkpoint = checkpoint.x", f"checkpoint = checkpoint.x\n  {conf}")
        if place == "job"
        else STATEFUL
    )
    found = loaded(engine + LAKE + job, tmp_path)
    assert found.codes == ["FIK161"]
    assert "Write spark.sql" in found.diagnostics[0].detail


@pytest.mark.parametrize("name", ["spark.driver.extraJavaOptions", "spark.driver.defaultJavaOptions"])
def test_the_heap_is_not_set_by_options_of_the_jvm(name: str, tmp_path: Path) -> None:
    """Spark would not start with it, and every other option arrives as it is written."""
    engine = 'engine "local" {{ conf = {{ "{}" = "{}" }} }}\n'
    found = loaded(engine.format(name, "-Dx=1 -Xmx4g") + LAKE + STATELESS, tmp_path)
    assert found.codes == ["FIK002"]
    assert "driver = { memory" in found.diagnostics[0].detail
    assert loaded(engine.format(name, "-Dx=1 -Xss4m") + LAKE + STATELESS, tmp_path).codes == []


def test_the_name_of_a_setting_is_not_spelled_in_another_way(tmp_path: Path) -> None:
    conf = 'checkpoint = checkpoint.x\n  conf = { "spark.sql.timestampType" = "TIMESTAMP_NTZ" }'
    after = loaded((LAKE + STATEFUL).replace("checkpoint = checkpoint.x", conf), tmp_path)
    blocker = proposal(after, loaded(LAKE + STATEFUL, tmp_path), running(operators=AGGREGATES)).blockers[0]
    assert any(line.startswith("spark.sql.timestampType: ") for line in blocker.why.splitlines())


def test_the_token_of_one_job_fits_no_other(tmp_path: Path) -> None:
    """One setting of the engine changes several jobs, each of which needs a word of its own."""
    both = (
        STATEFUL
        + STATEFUL.replace('job "x"', 'job "y"').replace("checkpoint.x", "checkpoint.y")
        + 'checkpoint "y" {}\n'
    )
    engine = 'engine "local" { conf = { "spark.sql.session.timeZone" = "UTC" } }\n'
    before, after = (
        loaded(engine + LAKE + both, tmp_path),
        loaded(engine.replace("UTC", "CET") + LAKE + both, tmp_path),
    )
    words = [
        way
        for job in ("job.x", "job.y")
        for blocker in proposal(after, before, running(operators=AGGREGATES), address=job).blockers
        for way in blocker.ways_out
        if "accept_result_change" in way
    ]
    assert len(words) == len(set(words)) == 2
