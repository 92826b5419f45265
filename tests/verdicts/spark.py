"""The one Spark application that judges, and the inputs as views in it."""

import contextlib
import logging
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from tests.verdicts.inputs import COLUMNS, STREAMS, WATERMARKED, ddl
from tests.verdicts.pair import Version

_CONF: Final = {
    "spark.master": "local[1]",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "900m",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.streaming.noDataMicroBatches.enabled": "true",
    "spark.sql.streaming.stopActiveRunOnRestart": "false",
    "spark.sql.streaming.metricsEnabled": "false",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
}
"""A few rows need no compiler, no second partition and no broadcast."""


@contextlib.contextmanager
def application(scratch: Path) -> Iterator[Any]:
    """The root session; its JVM is ended with it."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    from flareiac_spark.runtime.java import require_java

    before = {name: os.environ.get(name) for name in ("JAVA_HOME", "PYSPARK_PYTHON")}
    os.environ |= {"JAVA_HOME": str(require_java().home), "PYSPARK_PYTHON": sys.executable}
    builder = SparkSession.builder.appName("verdicts").config(
        "spark.sql.warehouse.dir", str(scratch / "warehouse")
    )
    for name, value in _CONF.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    for name, old in before.items():
        if old is None:
            del os.environ[name]
        else:
            os.environ[name] = old
    session.sparkContext.setLogLevel("OFF")
    # SQL that Spark refuses is nothing unusual here
    logging.getLogger("SQLQueryContextLogger").disabled = True
    gateway: Any = SparkContext._gateway
    try:
        yield session
    finally:
        session.stop()
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait(60)
        SparkContext._gateway = SparkContext._jvm = None


class Views:
    """The inputs of a folder as one session sees them: as tables, or the streams as streams."""

    def __init__(self, root: Any, folder: Path, *, streaming: bool = False, local: bool = False) -> None:
        self.session = root.newSession()
        self._activate()
        self._frames = {
            name: self._opened(folder / name, name, streaming=streaming, local=local) for name in COLUMNS
        }
        self._gained: dict[str, tuple[str, ...]] = {}
        self._watermarked = False
        self._streaming = streaming
        for name in COLUMNS:
            self._define(name, ())

    def frame(self, version: Version, *, watermarks: bool = False) -> Any:
        """What a version writes. Raises what Spark says of its SQL."""
        self._activate()
        for name in COLUMNS:
            gained = tuple(version.gained.get(name, ()))
            if self._gained.get(name, ()) != gained or self._watermarked != watermarks:
                self._define(name, gained, watermarks=watermarks)
        self._watermarked = watermarks
        found: Any = None
        for name, sql in version.steps.items():
            found = self.session.sql(sql)
            if name in version.dedups:
                found = self._deduplicated(found, list(version.dedups[name]), within=name in version.within)
            found.createOrReplaceTempView(name)
        for name in version.steps:
            if name not in COLUMNS:
                self.session.catalog.dropTempView(name)
        return found

    def _deduplicated(self, frame: Any, keys: list[str], *, within: bool) -> Any:
        """Rows that are all there have no watermark, and Spark no such operator for them."""
        return (
            frame.dropDuplicatesWithinWatermark(keys)
            if within and self._streaming
            else frame.dropDuplicates(keys)
        )

    def _activate(self) -> None:
        self.session._jvm.org.apache.spark.sql.classic.SparkSession.setActiveSession(
            self.session._jsparkSession
        )

    def _opened(self, folder: Path, name: str, *, streaming: bool, local: bool) -> Any:
        if streaming and name in STREAMS:
            return (
                self.session.readStream.format("json")
                .schema(ddl(name))
                .option("maxFilesPerTrigger", 1)
                .load(str(folder))
            )
        found = self.session.read.schema(ddl(name)).json(str(folder))
        if not local:
            return found
        from pyspark.sql import DataFrame

        java = found._jdf
        return DataFrame(
            self.session._jsparkSession.createDataFrame(java.collectAsList(), java.schema()), self.session
        )

    def _define(self, name: str, gained: tuple[str, ...], *, watermarks: bool = False) -> None:
        frame = self._frames[name].select(*COLUMNS[name], *gained)
        if watermarks and name in WATERMARKED and self._streaming:
            frame = frame.withWatermark(WATERMARKED[name], "10 minutes")
        frame.createOrReplaceTempView(name)
        self._gained[name] = gained


def by_name(frame: Any) -> Any:
    """As the product takes a frame's columns: in the order of their names, in lower case."""
    names = sorted(frame.columns, key=str.lower)
    return frame.selectExpr(
        *(f"`{name.replace('`', '``')}` AS `{name.lower().replace('`', '``')}`" for name in names)
    )


def shape(frame: Any) -> str:
    """Names and types, nested ones too; not what may be null."""
    found: str = frame.schema.simpleString()
    return found


def types(frame: Any) -> Mapping[str, str]:
    return {field.name: field.dataType.simpleString() for field in frame.schema.fields}


def refusals() -> tuple[type[Exception], ...]:
    """What Spark raises, from analysis to the last row."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    return PySparkException, Py4JError
