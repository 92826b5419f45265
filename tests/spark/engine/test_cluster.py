"""The attributes of an engine block about a cluster become Spark's own settings."""

import re
import subprocess
from pathlib import Path

import pyspark
import pytest

from flareiac_spark.engine import submit_options
from flareiac_spark.engine.application import Needs, settings
from flareiac_spark.engine.engine_definition import EngineDefinition
from tests.spark.declared import loaded

STANDALONE = 'master = "spark://a:7077,b:7077"'
YARN = 'master = "yarn"'


def conf_of(lines: str, root: Path) -> dict[str, str]:
    found = loaded(f'engine "e" {{\n  type = "spark_submit"\n{lines}\n}}', root)
    assert found.codes == []
    engine = EngineDefinition.of(found.resources["engine.e"].attributes)
    ours = "spark.flareiac.packages"
    return {key: value for key, value in settings(found.project, engine, Needs()).conf.items() if key != ours}


@pytest.mark.parametrize(
    ("lines", "conf"),
    [
        (YARN, {}),
        (
            f'{STANDALONE}\nexecutor = {{ instances = 3, cores = 2, memory = "4g" }}',
            {"spark.cores.max": "6", "spark.executor.cores": "2", "spark.executor.memory": "4g"},
        ),
        (
            f"{STANDALONE}\nexecutor = {{ instances = 3 }}",
            {"spark.cores.max": "3", "spark.executor.cores": "1"},
        ),
        (f"{STANDALONE}\nexecutor = {{ cores = 3 }}", {"spark.executor.cores": "3"}),
        (
            f"{YARN}\nexecutor = {{ instances = 3, cores = 2 }}",
            {"spark.executor.instances": "3", "spark.executor.cores": "2"},
        ),
        (
            f'{YARN}\nsubmit_options = {{ queue = "etl", principal = "p@R", name = "flights" }}',
            {"spark.app.name": "flights", "spark.kerberos.principal": "p@R", "spark.yarn.queue": "etl"},
        ),
        (
            f'{YARN}\nsubmit_options = {{ "proxy-user" = "lake", "total-executor-cores" = "4" }}',
            {"spark.cores.max": "4", "spark.flareiac.proxyUser": "lake"},
        ),
    ],
)
def test_a_cluster_is_said_by_settings(lines: str, conf: dict[str, str], tmp_path: Path) -> None:
    assert conf_of(lines, tmp_path) == conf


def test_files_are_those_of_the_project(tmp_path: Path) -> None:
    options = '{ files = "conf/a.txt,/etc/b.txt, s3a://x/c.txt#d", archives = "env.tar.gz#env" }'
    assert conf_of(f"{YARN}\nsubmit_options = {options}", tmp_path) == {
        "spark.files": f"{tmp_path}/conf/a.txt,/etc/b.txt,s3a://x/c.txt#d",
        "spark.archives": f"{tmp_path}/env.tar.gz#env",
    }


def test_only_what_a_jvm_takes_restarts_an_application(tmp_path: Path) -> None:
    digests = []
    for lines in (YARN, f'{YARN}\nidle_shutdown = "1h"', f"{YARN}\nexecutor = {{ cores = 2 }}"):
        found = loaded(f'engine "e" {{\n  type = "spark_submit"\n{lines}\n}}', tmp_path)
        engine = EngineDefinition.of(found.resources["engine.e"].attributes)
        digests.append(settings(found.project, engine, Needs()).digest)
    assert digests[0] == digests[1] != digests[2]


@pytest.mark.jvm
def test_each_option_of_spark_submit_has_its_place(java_home: Path) -> None:
    home = Path(pyspark.__file__).parent
    said = subprocess.run(
        [home / "bin" / "spark-submit", "--help"],
        env={"PATH": "/usr/bin:/bin", "SPARK_HOME": str(home), "JAVA_HOME": str(java_home)},
        capture_output=True,
        text=True,
        check=True,
    )
    options = set(re.findall(r"^ +--([a-z-]+)", said.stderr, re.MULTILINE))
    assert {"master", "queue", "py-files"} <= options
    places = {*submit_options.SETTINGS, *submit_options.INSTEAD, submit_options.PROXY_USER}
    assert options - {"help", "version"} == places
