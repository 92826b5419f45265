"""The words and settings of ``spark-submit`` by the kind of cluster: each file has an engine, and the words
and settings that come of it. FLAREIAC_UPDATE_GOLDEN=1 writes them again.
"""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from flareiac_spark.application import Launch
from flareiac_spark.application.launch import driver_words, launch_conf
from flareiac_spark.application.submission import SubmittedFiles, submission
from flareiac_spark.engine.application import Needs, settings
from flareiac_spark.engine.engine_definition import EngineDefinition
from flareiac_spark_runtime.control.spark_properties import write_properties
from flareiac_spark_runtime.driver.gateway import submit_words
from flareiac_spark_runtime.driver.spark_session import spark_conf
from tests.spark.declared import loaded
from tests.support.txtar import Archive, format_txtar, parse_txtar

CASES = sorted((Path(__file__).parent / "submissions").glob("*.txtar"))
FILES = SubmittedFiles(
    entry="s3a://control/prod/code/ENTRY.py",
    archive="s3a://control/prod/code/MODULES.zip",
    jars=("s3a://control/prod/jars/SHA/a.jar", "s3a://control/prod/jars/SHA/b.jar"),
)
LOCATION, PROPERTIES = "s3://control/prod", Path("/scratch/spark.properties")
CATALOG = {"spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog"}


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_golden(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY", "hush-hush")
    case = parse_txtar(path.read_text())
    found = loaded(case.files["engine.hcl"], tmp_path)
    assert found.codes == []
    engine = EngineDefinition.of(found.resources["engine.e"].attributes)
    asked = settings(found.project, engine, Needs(conf=CATALOG))
    asked = replace(asked, digest="DIGEST")
    environment = {"AWS_REGION": "eu-west-1", "AWS_SECRET_ACCESS_KEY": "hush-hush"}
    if engine.deploy_mode:
        made = submission(asked, FILES, LOCATION, PROPERTIES, environment)
        commands, properties = [("spark-submit", *made.words)], made.properties
        assert "hush" not in str(made)
    else:
        launch = Launch(python="python", jars=(Path("/a.jar"),), master=asked.master, memory=asked.memory)
        properties = spark_conf(asked, launch_conf(launch), environment)
        submitted = ("spark-submit", *submit_words(properties, PROPERTIES), "pyspark-shell")
        commands = [driver_words(launch, LOCATION), submitted]
        assert "hush" not in str(commands)
    texts = {
        "words": "\n\n".join("\n".join(words) for words in commands),
        "properties": "".join(f"{name} = {value}\n" for name, value in sorted(properties.items())),
    }
    shown = {name: text.replace(str(tmp_path), "PROJECT") for name, text in texts.items()}
    whole = format_txtar(
        Archive(comment=case.comment, files={"engine.hcl": case.files["engine.hcl"], **shown})
    )
    if os.environ.get("FLAREIAC_UPDATE_GOLDEN"):
        path.write_text(whole)
    assert whole == path.read_text()


def test_only_its_owner_reads_the_settings(tmp_path: Path) -> None:
    write_properties(tmp_path / "p", {"spark.hadoop.fs.s3a.secret.key": "hush"})
    assert (tmp_path / "p").stat().st_mode & 0o777 == 0o600
