"""Scheduler pools: Spark is started with what an engine declares, and a plan says what a change does."""

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from flareiac.sdk.changes import Effect
from flareiac_spark.engine.application import Needs, settings
from flareiac_spark.engine.engine_definition import EngineDefinition
from flareiac_spark_runtime.control import ApplicationSettings, job_spec_from_json
from flareiac_spark_runtime.control.desired import PoolSettings
from flareiac_spark_runtime.driver.scheduling import allocations, pool_conf
from flareiac_spark_runtime.driver.spark_session import spark_conf
from tests.spark.declared import LAKE, STATELESS, loaded, proposal, running

POOLS = "pools = { etl = { weight = 3, min_share = 1 }, low = {} }"


def declared(engine: str, job: str = "") -> str:
    text = STATELESS.replace("checkpoint = checkpoint.x", f"checkpoint = checkpoint.x\n  {job}")
    return f'engine "e" {{ {engine} }}\n{LAKE}{text}'


def settings_of(engine: str, root: Path) -> ApplicationSettings:
    found = loaded(f'engine "e" {{ {engine} }}', root)
    assert found.codes == []
    return settings(found.project, EngineDefinition.of(found.resources["engine.e"].attributes), Needs())


def test_pools_are_part_of_what_only_a_new_jvm_takes(tmp_path: Path) -> None:
    without, with_pools = settings_of("", tmp_path), settings_of(POOLS, tmp_path)
    assert with_pools.pools == {"etl": PoolSettings(weight=3, min_share=1), "low": PoolSettings()}
    assert (without.pools, without.digest == with_pools.digest) == ({}, False)


def test_spark_reads_the_pools_from_a_file(tmp_path: Path) -> None:
    pools = settings_of(POOLS, tmp_path).pools
    conf = pool_conf(pools, tmp_path / "scratch")
    assert list(conf) == ["spark.scheduler.allocation.file"]
    written = ET.parse(tmp_path / "scratch" / "pools.xml").getroot()
    assert [(item.get("name"), *(part.text for part in item)) for item in written] == [
        ("etl", "FAIR", "3", "1"),
        ("low", "FAIR", "1", "0"),
    ]
    assert allocations(pools) == (tmp_path / "scratch" / "pools.xml").read_text()
    assert pool_conf({}, tmp_path / "other") == {}


@pytest.mark.parametrize(("conf", "mode"), [({}, "FAIR"), ({"spark.scheduler.mode": "FIFO"}, "FIFO")])
def test_an_application_is_fair_unless_its_user_says_otherwise(conf: dict[str, str], mode: str) -> None:
    assert spark_conf(ApplicationSettings(conf=conf), {}, {})["spark.scheduler.mode"] == mode


def test_another_pool_restarts_the_job_and_other_pools_the_application(tmp_path: Path) -> None:
    before = loaded(declared(POOLS), tmp_path)
    moved = proposal(loaded(declared(POOLS, 'pool = "etl"'), tmp_path), before, running())
    heavier = loaded(declared(POOLS.replace("weight = 3", "weight = 4")), tmp_path)
    found = [moved, proposal(heavier, before, running())]
    assert [[step.effect for step in item.steps] for item in found] == [[Effect.RESTART]] * 2
    assert "pool changed" in found[0].steps[0].text
    assert "the application restarts with all its jobs" in found[1].steps[0].why


def test_a_spec_of_an_earlier_release_has_no_pool() -> None:
    spec = {"address": "job.x", "mode": "stream", "inputs": [], "steps": [], "outputs": []}
    assert job_spec_from_json(spec).pool == ""
