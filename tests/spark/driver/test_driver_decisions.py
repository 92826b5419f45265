"""The decisions of the driver without Spark: acts, restarts, types, hearts of errors."""

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flareiac_spark.application.exit_reason import exit_reason
from flareiac_spark.application.launch import Launch, launch_conf
from flareiac_spark.engine.application import object_storage_needs
from flareiac_spark.engine.canonical import RESERVED_CONF
from flareiac_spark_runtime.control import ApplicationSettings, Desired, DesiredJob, JobStatus, Restart
from flareiac_spark_runtime.control.desired import PACKAGES
from flareiac_spark_runtime.driver.column_types import quote, spark_type
from flareiac_spark_runtime.driver.reconcile import Act, Forget, Running, Start, Stop, decide
from flareiac_spark_runtime.driver.refusal import Refusal
from flareiac_spark_runtime.driver.restart_policy import RestartPolicy
from flareiac_spark_runtime.driver.root_cause import Link, choose
from flareiac_spark_runtime.driver.spark_session import spark_conf

JOB = "job.a"


def wanted(digest: str = "1", nonce: int = 0, *, stopped: bool = False) -> dict[str, DesiredJob]:
    return {JOB: DesiredJob(digest=digest, spec={}, nonce=nonce, state="stopped" if stopped else "running")}


def running(digest: str = "1", nonce: int = 0, *, stopping: bool = False) -> dict[str, Running]:
    return {JOB: Running(digest=digest, nonce=nonce, stopping=stopping)}


def ended(phase: str, digest: str = "1") -> dict[str, JobStatus]:
    return {JOB: JobStatus(phase=phase, digest=digest)}  # type: ignore[arg-type] # phases come from the table below


@pytest.mark.parametrize(
    ("desired", "runs", "finished", "acts"),
    [
        (wanted(), {}, {}, (Start(JOB),)),
        (wanted(), running(), {}, ()),
        (wanted("2"), running(), {}, (Stop(JOB),)),
        (wanted(nonce=1), running(), {}, (Stop(JOB),)),
        (wanted("2"), running(stopping=True), {}, ()),
        (wanted(stopped=True), running(), {}, (Stop(JOB),)),
        ({}, running(), {}, (Stop(JOB),)),
        (wanted("2"), {}, ended("stopped"), (Forget(JOB), Start(JOB))),
        (wanted(), {}, ended("failed"), ()),
        (wanted("2"), {}, ended("failed"), (Forget(JOB), Start(JOB))),
        (wanted(), {}, ended("completed"), ()),
        (wanted(stopped=True), {}, ended("completed"), ()),
        (wanted(stopped=True), {}, ended("failed"), (Forget(JOB),)),
        ({}, {}, ended("completed"), (Forget(JOB),)),
    ],
)
def test_acts(
    desired: dict[str, DesiredJob],
    runs: dict[str, Running],
    finished: dict[str, JobStatus],
    acts: tuple[Act, ...],
) -> None:
    assert decide(desired, runs, finished) == acts


def test_what_is_held_is_not_started_and_nothing_else_changes() -> None:
    assert decide(wanted(), {}, {}, {JOB}) == ()
    assert decide(wanted(), {}, {}, {"job.b"}) == (Start(JOB),)
    assert decide(wanted("2"), {}, ended("stopped"), {JOB}) == (Forget(JOB),)
    assert decide(wanted(stopped=True), running(), {}, {JOB}) == (Stop(JOB),)


def test_a_job_is_held_until_it_is_wanted_again() -> None:
    desired = Desired(lineage="l", workspace="w", jobs=wanted()).with_held(JOB, 1.0, 0.5)
    assert desired.held == {JOB: 1.0}
    assert desired.with_held(JOB, 2.0, 0.7).down_since == {JOB: 0.5}
    assert desired.with_job("job.b", wanted()[JOB]).held == {JOB: 1.0}
    assert desired.with_job(JOB, wanted("2")[JOB]).held == {}
    assert desired.without_job(JOB) == Desired(lineage="l", workspace="w")
    assert desired.without_held(JOB) == Desired(lineage="l", workspace="w", jobs=wanted())


def test_whoever_holds_a_job_and_dies_need_not_let_go() -> None:
    desired = Desired(lineage="l", workspace="w", jobs=wanted()).with_held(JOB, 10.0, 9.0)
    assert decide(desired.jobs, {}, {}, desired.held_at(9.9)) == ()
    assert decide(desired.jobs, {}, {}, desired.held_at(10.0)) == (Start(JOB),)


@given(
    digests=st.tuples(st.sampled_from("12"), st.sampled_from("12")),
    stopped=st.booleans(),
    phase=st.sampled_from(["failed", "completed", "stopped"]),
)
def test_acting_leads_to_rest(digests: tuple[str, str], stopped: bool, phase: str) -> None:
    """Carried out again and again, acts end: nothing is started and stopped in a circle."""
    desired, runs, finished = wanted(digests[0], stopped=stopped), running(digests[1]), ended(phase)
    finished.clear()
    for _ in range(4):
        acts = decide(desired, runs, finished)
        for act in acts:
            match act:
                case Start():
                    finished.clear()
                    runs = running(digests[0])
                case Stop():
                    finished, runs = ended("stopped", digests[1]), {}
                case Forget():
                    finished.clear()
    assert acts == ()
    assert bool(runs) is not stopped


def test_the_budget_backs_off_and_ends_and_is_restored_by_time() -> None:
    budget = RestartPolicy(Restart(max_failures=2, within_ms=60_000, backoff_ms=1_000))
    assert budget.after_failure(0) == 1
    assert budget.after_failure(10) == 2
    assert budget.after_failure(20) is None
    assert budget.after_failure(75) == 2


@pytest.mark.parametrize(
    ("iceberg", "spark"),
    [
        ("long", "BIGINT"),
        ("timestamptz", "TIMESTAMP"),
        ("timestamp_ntz", "TIMESTAMP_NTZ"),
        ("decimal(12,2)", "DECIMAL(12, 2)"),
        ("fixed[16]", "BINARY"),
        ("list<struct<a: string, b: int not null>>", "ARRAY<STRUCT<`a`: STRING, `b`: INT NOT NULL>>"),
        ("map<string, list<long>>", "MAP<STRING, ARRAY<BIGINT>>"),
    ],
)
def test_types_as_spark_spells_them(iceberg: str, spark: str) -> None:
    assert spark_type(iceberg) == spark


@pytest.mark.parametrize(
    "text", ["", "time", "list<", "list<int", "struct<a int>", "int int", "decimal(1)", "map<int>"]
)
def test_a_type_that_is_not_understood_is_refused(text: str) -> None:
    with pytest.raises(Refusal, match="is not understood"):
        spark_type(text)


@given(st.text())
def test_any_text_is_a_type_or_refused(text: str) -> None:
    with contextlib.suppress(Refusal):
        assert spark_type(text)


def test_names_are_quoted() -> None:
    assert quote("a`b") == "`a``b`"


GONE = "FAILED_READ_FILE.FILE_NOT_EXIST"


def link(class_name: str, message: str, condition: str | None = None) -> Link:
    return Link(class_name=class_name, condition=condition, message=message)


def test_the_heart_is_the_innermost_condition_with_the_file_it_concerns() -> None:
    cause = choose(
        [
            link(
                "org.apache.spark.sql.streaming.StreamingQueryException",
                "[STREAM_FAILED] Query terminated",
                "STREAM_FAILED",
            ),
            link(
                "org.apache.spark.SparkException",
                "[FAILED_READ_FILE.NO_HINT] Encountered error while reading file file:///a.json. SQLSTATE: "
                "KD001",
                "FAILED_READ_FILE.NO_HINT",
            ),
            link(
                "org.apache.spark.SparkRuntimeException",
                "[CANNOT_PARSE_JSON_FIELD] Cannot parse the field. SQLSTATE: 2203G",
                "CANNOT_PARSE_JSON_FIELD",
            ),
        ]
    )
    assert cause.error_class == "CANNOT_PARSE_JSON_FIELD"
    assert cause.message == (
        "Cannot parse the field.\nin the file file:///a.json\n"
        'To go on without such records, write in its stream: bad_records = { action = "drop" }; to keep what '
        "is known of them: bad_records = { quarantine = table.NAME }; to keep their rows with null columns, "
        "where the tables take nulls: "
        'bad_records = { action = "null" }.'
    )
    assert not cause.permanent


def test_a_file_that_was_deleted_before_it_was_read_names_the_ways_on() -> None:
    gone = "Encountered error while reading file file:///a.json. File does not exist."
    text = f"{gone} It is possible the underlying files have been updated.\nYou can"
    cause = choose([link("org.apache.spark.SparkException", f"[{GONE}] {text}", GONE)])
    assert cause.message.startswith(f"{gone}\nIt was deleted after")
    assert "ignoreMissingFiles" in cause.message
    assert "REFRESH" not in cause.message
    assert not cause.permanent


@pytest.mark.parametrize(
    ("told", "files"),
    [
        (
            (
                "Found conflicting files that can contain records matching true: [file:/t/a.parquet, "
                "file:/t/b.parquet, file:/t/c.parquet]"
            ),
            3,
        ),
        ("Found new conflicting delete files that can apply to records matching true: [/t/a.parquet]", 1),
        (
            (
                "Found conflicting deleted files that can contain records matching partitions [k=1]: "
                "[s3://t/a.orc]"
            ),
            1,
        ),
        ("Cannot commit, missing data files: [file:/t/a.parquet]", 1),
        ("Missing required files to delete: file:/t/a.parquet,file:/t/b.parquet", 2),
    ],
)
def test_a_commit_that_met_another_programs_is_told_with_few_names_and_a_way_out(
    told: str, files: int
) -> None:
    chain = [
        link("org.apache.spark.SparkException", "Writing job aborted"),
        link("org.apache.iceberg.exceptions.ValidationException", told),
    ]
    cause = choose(chain)
    assert cause.error_class == "ValidationException"
    assert cause.message.startswith("Another program changed the table while this batch was being written")
    assert cause.message.count(".parquet") + cause.message.count(".orc") == 1
    assert (f"and {files - 1} more file" in cause.message) == (files > 1)
    assert "write.merge.isolation-level" in cause.message
    assert not cause.permanent


def test_sparks_hint_for_a_malformed_file_becomes_the_way_out_in_the_files_of_a_project() -> None:
    cause = choose(
        [
            link(
                "org.apache.spark.SparkException",
                "[FAILED_READ_FILE.NO_HINT] Encountered error while reading file file:///a.json. SQLSTATE: "
                "KD001",
                "FAILED_READ_FILE.NO_HINT",
            ),
            link(
                "org.apache.spark.SparkException",
                "[MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION] Malformed records are detected in record "
                "parsing: [null]. Parse Mode: FAILFAST. To process malformed records as null result, try "
                "setting the option 'mode' as 'PERMISSIVE'. SQLSTATE: 22023",
                "MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION",
            ),
        ]
    )
    assert cause.message.splitlines() == [
        "Malformed records are detected in record parsing: [null]. Parse Mode: FAILFAST.",
        "in the file file:///a.json",
        (
            'To go on without such records, write in its stream: bad_records = { action = "drop" }; to keep '
            "what is known of them: bad_records = { quarantine = table.NAME }; to keep their rows with null "
            'columns, where the tables take nulls: bad_records = { action = "null" }.'
        ),
    ]


@pytest.mark.parametrize("inside", [True, False], ids=["as a cause", "as text of a task"])
def test_a_state_that_lost_a_file_is_final_and_has_its_ways_out(inside: bool) -> None:
    name = "CANNOT_LOAD_STATE_STORE.CANNOT_READ_DELTA_FILE_NOT_EXISTS"
    said = f"[{name}] Error reading delta file /c/state/0/0/4.delta: it does not exist. SQLSTATE: 58030"
    chain = [
        link("org.apache.spark.SparkException", f"Job aborted due to stage failure: Task 0 failed: {said}")
    ]
    found = choose([*chain, link("org.apache.spark.SparkException", said, name)] if inside else chain)
    assert (found.error_class, found.permanent) == (name, True)
    assert "/c/state/0/0/4.delta" in found.message
    assert "Put back a whole copy of the checkpoint's folder, or raise its generation" in found.message


def test_the_heart_of_a_task_that_survived_as_text() -> None:
    text = (
        "Job aborted due to stage failure: Task 0 failed: org.apache.spark.SparkRuntimeException: "
        "[USER_RAISED_EXCEPTION] null in x SQLSTATE: P0001\n"
        "\tat org.apache.X"
    )
    cause = choose([link("org.apache.spark.SparkException", text)])
    assert (cause.error_class, cause.message) == ("USER_RAISED_EXCEPTION", "null in x")


def test_an_analysis_error_is_permanent_and_loses_its_plan() -> None:
    cause = choose(
        [
            link(
                "org.apache.spark.sql.catalyst.ExtendedAnalysisException",
                "[UNRESOLVED_COLUMN] No x. SQLSTATE: 42703; line 1 pos 7;\n'Project ['x]",
                "UNRESOLVED_COLUMN",
            )
        ]
    )
    assert (cause.message, cause.permanent) == ("No x.; line 1 pos 7", True)


def test_a_lost_commit_race_may_be_tried_again() -> None:
    cause = choose(
        [link("org.apache.iceberg.exceptions.CommitFailedException", "metadata location has changed")]
    )
    assert (cause.error_class, cause.permanent) == ("CommitFailedException", False)


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        (None, "Cannot load current offset at snapshot 12, the snapshot was expired or removed"),
        (
            None,
            (
                "Cannot process overwrite snapshot: 7, to ignore overwrites, set "
                "streaming-skip-overwrite-snapshots=true"
            ),
        ),
        ("STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA", "another operator"),
        ("STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE", "another schema"),
    ],
)
def test_what_no_second_start_mends_is_permanent(condition: str | None, message: str) -> None:
    chain = [
        link("org.apache.spark.sql.streaming.StreamingQueryException", "[STREAM_FAILED] x", "STREAM_FAILED")
    ]
    assert choose([*chain, link("java.lang.IllegalStateException", message, condition)]).permanent


@pytest.mark.parametrize(
    ("output", "cause"),
    [
        (
            "WARN x\nUnrecognized VM option 'Nope'\nError: Could not create the Java Virtual Machine.\n",
            "Unrecognized VM option 'Nope'",
        ),
        (
            "JAVA_HOME is not set\nTraceback\n[JAVA_GATEWAY_EXITED] Java gateway process exited",
            "JAVA_HOME is not set",
        ),
        ("flareiac driver ended: PATH_NOT_FOUND: no such path\n", "PATH_NOT_FOUND: no such path"),
        ("", "It said nothing."),
        ("something odd\n\tat java.X\n", "something odd"),
    ],
)
def test_the_last_words_of_a_driver(output: str, cause: str) -> None:
    assert exit_reason(output).splitlines()[0] == cause


def test_jvm_options_with_spaces_stay_one() -> None:
    machine = launch_conf(Launch(java_options=("-Xss4m", "-XX:SharedArchiveFile=/a b/c")))
    assert machine["spark.driver.extraJavaOptions"] == '-Xss4m "-XX:SharedArchiveFile=/a b/c"'


def test_jvm_options_of_the_engine_follow_those_of_the_machine() -> None:
    machine = launch_conf(Launch(java_options=("-Xss4m",)))
    mine = {"spark.driver.extraJavaOptions": '-Dx=1 "-Dy=a b"'}
    assert (
        spark_conf(ApplicationSettings(conf=mine), machine, {})["spark.driver.extraJavaOptions"]
        == '-Xss4m -Dx=1 "-Dy=a b"'
    )
    assert spark_conf(ApplicationSettings(), machine, {})["spark.driver.extraJavaOptions"] == "-Xss4m"
    assert (
        spark_conf(ApplicationSettings(conf=mine), {}, {})["spark.driver.extraJavaOptions"]
        == mine["spark.driver.extraJavaOptions"]
    )


def test_no_setting_of_an_engine_is_overruled() -> None:
    """A setting that FlareIaC alone may set is refused where it is written; every other one that is written
    must arrive.
    """
    machine = launch_conf(Launch(jars=(Path("/a.jar"),), java_options=("-Xss4m",), memory="1g"))
    wanted = {
        name: "mine" for name in spark_conf(ApplicationSettings(), machine, {}) if name not in RESERVED_CONF
    }
    found = spark_conf(ApplicationSettings(conf=wanted), machine, {})
    assert [name for name in wanted if "mine" not in found[name].split()] == []


def test_an_application_with_hadoops_jars_reaches_s3_as_its_environment_says() -> None:
    environment = {"AWS_ENDPOINT_URL_S3": "http://127.0.0.1:9000", "AWS_REGION": "eu-central-1"}
    packages = {PACKAGES: ",".join(object_storage_needs().packages)}
    found = spark_conf(ApplicationSettings(conf=packages), {}, environment)
    assert found["spark.hadoop.fs.s3a.endpoint"] == "http://127.0.0.1:9000"
    assert found["spark.hadoop.fs.s3a.endpoint.region"] == "eu-central-1"
    mine = {"spark.hadoop.fs.s3a.endpoint": "http://127.0.0.1:9999"}
    found = spark_conf(ApplicationSettings(conf={**packages, **mine}), {}, environment)
    assert found["spark.hadoop.fs.s3a.endpoint"] == "http://127.0.0.1:9999"
    assert not any("s3" in name for name in spark_conf(ApplicationSettings(), {}, environment))


def test_executors_on_other_hosts_are_told_where_s3_is_and_not_given_keys() -> None:
    environment = {
        "AWS_ENDPOINT_URL": "http://10.0.0.1:9000",
        "AWS_REGION": "eu-central-1",
        "AWS_SECRET_ACCESS_KEY": "secret",
    }
    found = spark_conf(ApplicationSettings(), {"spark.master": "spark://host:7077"}, environment)
    passed_on = {name: value for name, value in found.items() if name.startswith("spark.executorEnv.")}
    assert passed_on == {
        "spark.executorEnv.AWS_ENDPOINT_URL": "http://10.0.0.1:9000",
        "spark.executorEnv.AWS_REGION": "eu-central-1",
    }
    here = spark_conf(ApplicationSettings(), {"spark.master": "local[2]"}, environment)
    assert not any(name.startswith("spark.executorEnv.") for name in here)


@pytest.mark.parametrize(
    ("master", "cores"),
    [("local", 1), ("local[3]", 3), ("local[4, 2]", 4), ("local[*]", 8), ("spark://host:7077", None)],
)
def test_a_local_application_shuffles_into_as_many_partitions_as_it_has_cores(
    master: str, cores: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 8)
    conf = spark_conf(ApplicationSettings(), {"spark.master": master}, {})
    assert conf.get("spark.sql.shuffle.partitions") == (None if cores is None else str(cores))
    mine = spark_conf(
        ApplicationSettings(conf={"spark.sql.shuffle.partitions": "200"}), {"spark.master": master}, {}
    )
    assert mine["spark.sql.shuffle.partitions"] == "200"
