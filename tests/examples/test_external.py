"""The files of the example for an external driver are true of the program."""

import configparser
import re
import shlex
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from flareiac.app.provided_commands import provided_commands
from flareiac.cli.command_tree import command_tree
from flareiac.cli.invocation import Invocation
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.sources import Source
from flareiac.lang.parse import parse_file
from flareiac.sdk.validators import parse_duration
from flareiac_spark.engine.schema import SCHEMA
from flareiac_spark_runtime.driver.metrics import METRICS
from flareiac_spark_runtime.driver.monitoring import ALIVE_PATH, METRICS_PATH, READY_PATH
from tests.examples.depends import EXAMPLES

HERE: Final = EXAMPLES / "external"
_OF_PROMETHEUS: Final = {"up"}
_METRIC: Final = re.compile(r"\b(?:flareiac_\w+|up)\b(?=[^\w\"-]|$)")


def unit() -> configparser.SectionProxy:
    parser = configparser.ConfigParser(strict=True, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign] # systemd minds letter case
    parser.read_string((HERE / "flareiac-prod.service").read_text(encoding="utf-8"))
    return parser["Service"]


def pod() -> Any:
    return yaml.safe_load((HERE / "deployment.yaml").read_text(encoding="utf-8"))["spec"]["template"]


def rules() -> list[Any]:
    found = yaml.safe_load((HERE / "alerts.yml").read_text(encoding="utf-8"))
    return [rule for group in found["groups"] for rule in group["rules"]]


def graceful_stop() -> float:
    return (parse_duration(str(SCHEMA.attributes["graceful_stop"].default)) or 0) / 1000


def test_rules_name_metrics_that_the_driver_writes() -> None:
    used: set[str] = set()
    for rule in rules():
        assert set(rule) <= {"alert", "expr", "for", "labels", "annotations"}
        assert rule["annotations"]["summary"].endswith("."), rule["alert"]
        names = set(_METRIC.findall(re.sub(r'"[^"]*"', '""', rule["expr"])))
        assert names, rule["expr"]
        assert names - _OF_PROMETHEUS <= METRICS.keys()
        used |= names
    assert len({rule["alert"] for rule in rules()}) == len(rules())
    assert used >= {"up", "flareiac_job_phase", "flareiac_job_failures_total", "flareiac_source_lag_records"}


def test_both_supervisors_wait_longer_than_a_graceful_stop() -> None:
    assert int(unit()["TimeoutStopSec"]) > graceful_stop()
    assert pod()["spec"]["terminationGracePeriodSeconds"] > graceful_stop()


def test_probes_ask_for_pages_that_exist() -> None:
    container = pod()["spec"]["containers"][0]
    probed = {name: container[name]["httpGet"]["path"] for name in container if name.endswith("Probe")}
    assert probed == {
        "startupProbe": ALIVE_PATH,
        "livenessProbe": ALIVE_PATH,
        "readinessProbe": READY_PATH,
    }
    annotations = pod()["metadata"]["annotations"]
    assert annotations["prometheus.io/path"] == METRICS_PATH
    ports = {item["name"]: item["containerPort"] for item in container["ports"]}
    assert {container[name]["httpGet"]["port"] for name in probed} == set(ports)
    assert annotations["prometheus.io/port"] == str(ports["http"])


@pytest.mark.parametrize(
    "words", [shlex.split(unit()["ExecStart"]), pod()["spec"]["containers"][0]["command"]]
)
def test_the_command_line_understands_how_the_driver_is_started(words: list[str]) -> None:
    program, name, *rest = words
    assert Path(program).name == "flareiac"
    command: Any = command_tree(Invocation(), provided_commands()).commands[name]
    typed = [f"-{word}" if word.startswith("-") else word for word in rest]
    context = command.loaded().make_context(name, typed)
    assert context.params == {"location": "s3://lake-control/prod", "wait": True}


def test_the_engine_is_one_that_the_language_knows() -> None:
    diagnostics = Diagnostics()
    path = HERE / "engine.flare.hcl"
    body = parse_file(Source(path.name, path.read_text(encoding="utf-8")), diagnostics)
    assert not tuple(diagnostics)
    (engine,) = body.blocks
    for attribute in engine.body.attributes:
        assert attribute.name in SCHEMA.attributes
