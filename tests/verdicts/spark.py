"""The one Spark application that judges, and the inputs as views in it."""

import contextlib
import logging
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from tests.verdicts.inputs import INPUTS, STREAMS, WATERMARKED, ddl, place
from tests.verdicts.pair import Version

_CONF: Final = {
    "spark.master": "local[1]",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "900m",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ReservedCodeCacheSize=256m",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.streaming.noDataMicroBatches.enabled": "true",
    "spark.sql.streaming.stopActiveRunOnRestart": "false",
    "spark.sql.streaming.metricsEnabled": "false",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.streaming.checkpointFileManagerClass": "org.apache.spark.sql.execution.streaming.checkpointing."
    "FileSystemBasedCheckpointFileManager",
}
"""A few rows need no compiler, no second partition and no broadcast. The cache is for code of Spark itself: a
full one, which is small for the first compiler alone, has it interpreted.
"""
_FOLDED: Final = "org.apache.spark.sql.catalyst.optimizer.ConvertToLocalRelation"


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
    _with_quiet_files(session)
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


def _with_quiet_files(session: Any) -> None:
    """Has local files read and written without a process for each."""
    jvm = session._jvm
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(jvm.java.lang.Thread.currentThread().getContextClassLoader())
    compiler.cook((Path(__file__).parent / "QuietFiles.java").read_text(encoding="utf-8"))
    hadoop = session.sparkContext._jsc.hadoopConfiguration()
    hadoop.setClassLoader(compiler.getClassLoader())
    hadoop.set("fs.file.impl", "QuietFiles")
    jvm.org.apache.hadoop.fs.FileSystem.closeAll()


class Views:
    """The inputs of a folder as one session sees them: as tables, or the streams as streams."""

    def __init__(self, root: Any, folder: Path, *, streaming: bool = False, local: bool = False) -> None:
        self.session = root.newSession()
        self._activate()
        self._folder, self._streaming, self._local = folder, streaming, local
        if local:
            # It would compute columns of rows at hand that nothing reads, and raise where they raise
            self.session.conf.set("spark.sql.optimizer.excludedRules", _FOLDED)
        self._frames = {(name, name): self._opened(name) for name in INPUTS}
        self._defined: dict[str, tuple[str, tuple[str, ...], bool]] = {}
        self._conf: dict[str, str] = {}
        self._usual: dict[str, str | None] = {}
        for name in INPUTS:  # also for SQL that is no version's
            self._define(name, name, (), watermarks=False)

    def frame(self, version: Version, *, watermarks: bool = False) -> Any:
        """The frame that a version writes. Raises Spark's errors about its SQL."""
        self._activate()
        for name in INPUTS:
            self._define(name, version.input(name), tuple(version.gained.get(name, ())), watermarks)
        self._set(version.settings)
        for name, sql in version.steps.items():
            self._step(version, name, sql)
        found = self.session.table(version.source)
        for name in version.steps:
            self.session.catalog.dropTempView(name)
            self._defined.pop(name, None)
        return found

    def _step(self, version: Version, name: str, sql: str) -> None:
        frame = self.session.sql(sql)
        if name in version.marks and self._streaming:
            frame = frame.withWatermark("ts", version.marks[name])
        if name in version.dedups:
            frame = self._deduplicated(frame, list(version.dedups[name]), within=name in version.within)
        frame.createOrReplaceTempView(name)

    def _set(self, conf: Mapping[str, str]) -> None:
        """Settings for what is analyzed and run until the next frame. Raises what Spark says of one."""
        for name in self._conf:
            usual = self._usual[name]
            if usual is None:
                self.session.conf.unset(name)
            else:
                self.session.conf.set(name, usual)
        self._conf = {}
        for name, value in conf.items():
            usual = self.session.conf.get(name, None)
            self._usual.setdefault(name, None if usual == "<undefined>" else usual)
            self.session.conf.set(name, value)
            self._conf[name] = value

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

    def _opened(self, name: str) -> Any:
        folder = self._folder / place(name)
        if self._streaming and name in STREAMS:
            return (
                self.session.readStream.format("json")
                .schema(ddl(name))
                .option("maxFilesPerTrigger", 1)
                .load(str(folder))
            )
        found = self.session.read.schema(ddl(name)).json(str(folder))
        if not self._local:
            return found
        from pyspark.sql import DataFrame

        java = found._jdf
        return DataFrame(
            self.session._jsparkSession.createDataFrame(java.collectAsList(), java.schema()), self.session
        )

    def _define(self, name: str, read: str, gained: tuple[str, ...], watermarks: bool) -> None:
        wanted = (read, gained, watermarks)
        if self._defined.get(name) == wanted:
            return
        # Each input is a source of its own, also where two of them read one place
        if (name, read) not in self._frames:
            self._frames[name, read] = self._opened(read)
        frame = self._frames[name, read].select(*INPUTS[read], *gained)
        if watermarks and read in WATERMARKED and self._streaming:
            frame = frame.withWatermark(WATERMARKED[read], "10 minutes")
        frame.createOrReplaceTempView(name)
        self._defined[name] = wanted


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
    """The errors that Spark raises, from analysis to the last row."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    return PySparkException, Py4JError
