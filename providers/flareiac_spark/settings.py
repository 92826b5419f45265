"""Settings and options that leave every value as it is: one table for engines, jobs, streams and outputs,
with the reason of each. Pure.

A query that keeps state goes on with values that were made under the old settings. So only what stands here
lets it restart without a person's word: a setting that no one has looked at may change what the same SQL
gives.
"""

from typing import Final

from flareiac.kernel.lazy_dataclass import dataclass

PARALLELISM: Final = "into how many tasks the same work is divided"
_MEMORY: Final = "how much memory and how many cores there are for the same work"
_TRANSPORT: Final = "how rows get from one task to another"
_PLANNING: Final = "by which way the same result is computed"
BATCH_SIZE: Final = "how much one batch takes"
_FILES: Final = "how the same files are listed and split"
_LOGGING: Final = "what is logged and shown of the same work"
_SCHEDULING: Final = "when and where tasks run, and how often a failed one is tried again"
_PYTHON: Final = "where the Python of the same version is that runs the steps"
_STORE: Final = "how the state store keeps the same values"
_LOG: Final = "how many old entries a checkpoint keeps"
_LAYOUT: Final = "how the same rows are laid out in files"


@dataclass(frozen=True, slots=True, kw_only=True)
class Harmless:
    """``name`` ends with a dot where it stands for a whole family; ``what`` is all that it decides."""

    name: str
    what: str

    def covers(self, name: str) -> bool:
        return name.startswith(self.name) if self.name.endswith(".") else name == self.name


def all_of(what: str, *names: str) -> tuple[Harmless, ...]:
    """An entry for each name."""
    return tuple(Harmless(name=name, what=what) for name in names)


SETTINGS: Final[tuple[Harmless, ...]] = (
    *all_of(
        PARALLELISM,
        "spark.sql.shuffle.partitions",
        "spark.default.parallelism",
        "spark.sql.adaptive.",
        "spark.sql.files.maxPartitionBytes",
        "spark.sql.files.openCostInBytes",
        "spark.sql.files.minPartitionNum",
        "spark.sql.files.maxPartitionNum",
        "spark.sql.leafNodeDefaultParallelism",
    ),
    *all_of(
        _MEMORY,
        "spark.executor.memory",
        "spark.executor.memoryOverhead",
        "spark.executor.memoryOverheadFactor",
        "spark.executor.cores",
        "spark.executor.instances",
        "spark.executor.pyspark.memory",
        "spark.driver.maxResultSize",
        "spark.driver.memoryOverhead",
        "spark.driver.memoryOverheadFactor",
        "spark.memory.",
        "spark.storage.",
        "spark.cores.max",
        "spark.task.cpus",
        "spark.local.dir",
        "spark.sql.columnVector.offheap.enabled",
        "spark.sql.inMemoryColumnarStorage.batchSize",
        "spark.sql.inMemoryColumnarStorage.compressed",
        "spark.sql.parquet.columnarReaderBatchSize",
        "spark.sql.orc.columnarReaderBatchSize",
    ),
    *all_of(
        _TRANSPORT,
        "spark.shuffle.",
        "spark.reducer.",
        "spark.broadcast.",
        "spark.io.compression.",
        "spark.rdd.compress",
        "spark.serializer",
        "spark.kryo.",
        "spark.kryoserializer.",
        "spark.network.",
        "spark.rpc.",
        "spark.port.maxRetries",
        "spark.driver.bindAddress",
        "spark.driver.host",
        "spark.driver.port",
        "spark.blockManager.port",
        "spark.driver.blockManager.port",
    ),
    *all_of(
        _PLANNING,
        "spark.sql.autoBroadcastJoinThreshold",
        "spark.sql.broadcastTimeout",
        "spark.sql.join.preferSortMergeJoin",
        "spark.sql.codegen.wholeStage",
        "spark.sql.parquet.enableVectorizedReader",
        "spark.sql.parquet.filterPushdown",
        "spark.sql.orc.enableVectorizedReader",
        "spark.sql.orc.filterPushdown",
        "spark.sql.cbo.enabled",
        "spark.sql.iceberg.vectorization.enabled",
        "spark.sql.iceberg.planning.preserve-data-grouping",
    ),
    *all_of(
        _FILES,
        "spark.sql.sources.parallelPartitionDiscovery.threshold",
        "spark.sql.sources.parallelPartitionDiscovery.parallelism",
        "spark.sql.streaming.fileSource.log.compactInterval",
        "spark.sql.streaming.fileSource.log.deletion",
        "spark.sql.streaming.fileSource.log.cleanupDelay",
        "spark.hadoop.mapreduce.input.fileinputformat.list-status.num-threads",
    ),
    *all_of(
        _LOGGING,
        "spark.ui.",
        "spark.sql.ui.",
        "spark.eventLog.",
        "spark.metrics.",
        "spark.log.",
        "spark.logConf",
        "spark.app.name",
        "spark.executor.logs.rolling.",
        "spark.sql.debug.maxToStringFields",
        "spark.sql.maxMetadataStringLength",
        "spark.sql.maxPlanStringLength",
        "spark.sql.streaming.metricsEnabled",
        "spark.sql.streaming.numRecentProgressUpdates",
        "spark.sql.streaming.noDataProgressEventInterval",
        "spark.sql.streaming.ui.",
    ),
    *all_of(
        _SCHEDULING,
        "spark.scheduler.",
        "spark.locality.",
        "spark.yarn.queue",
        "spark.speculation",
        "spark.speculation.",
        "spark.task.maxFailures",
        "spark.excludeOnFailure.",
        "spark.executor.heartbeatInterval",
        "spark.dynamicAllocation.",
        "spark.cleaner.",
        "spark.sql.streaming.pollingDelay",
        "spark.sql.streaming.stopTimeout",
    ),
    *all_of(_PYTHON, "spark.pyspark.python"),
    *all_of(
        _STORE,
        "spark.sql.streaming.stateStore.maintenanceInterval",
        "spark.sql.streaming.stateStore.minDeltasForSnapshot",
        *(
            f"spark.sql.streaming.stateStore.rocksdb.{name}"
            for name in (
                "allowFAllocate",
                "blockCacheSizeMB",
                "blockSizeKB",
                "boundedMemoryUsage",
                "changelogCheckpointing.enabled",
                "compactOnCommit",
                "compression",
                "highPriorityPoolRatio",
                "lockAcquireTimeoutMs",
                "maxMemoryUsageMB",
                "maxOpenFiles",
                "maxWriteBufferNumber",
                "resetStatsOnLoad",
                "trackTotalNumberOfRows",
                "writeBufferCacheRatio",
                "writeBufferSizeMB",
            )
        ),
    ),
    *all_of(_LOG, "spark.sql.streaming.minBatchesToRetain"),
)
"""Settings of an engine or a job. Names count as Spark counts them: letter by letter, in their case."""
VALUES: Final[tuple[str, ...]] = (
    "spark.sql.session.timeZone",
    "spark.sql.ansi.enabled",
    "spark.sql.caseSensitive",
    "spark.sql.legacy.timeParserPolicy",
    "spark.sql.ansi.doubleQuotedIdentifiers",
    "spark.sql.timestampType",
    "spark.sql.decimalOperations.allowPrecisionLoss",
    "spark.sql.mapKeyDedupPolicy",
    "spark.sql.groupByOrdinal",
    "spark.sql.legacy.sizeOfNull",
)
"""Settings of which it is known that the same SQL gives other values under them."""
READER_OPTIONS: Final[tuple[Harmless, ...]] = (
    *all_of(BATCH_SIZE, "maxFilesPerTrigger", "maxBytesPerTrigger"),
    *all_of(_FILES, "maxCachedFiles", "discardCachedInputRatio"),
)
"""Options of a reader of files."""
OUTPUT_OPTIONS: Final[tuple[Harmless, ...]] = (
    *all_of(
        _LAYOUT,
        "fanout-enabled",
        "target-file-size-bytes",
        "write-format",
        "compression-codec",
        "compression-level",
        "compression-strategy",
        "distribution-mode",
        "delete-granularity",
        "advisory-partition-size",
        "use-table-distribution-and-ordering",
    ),
    *all_of("what a commit says of itself", "snapshot-property."),
)
"""Options of an output."""


def harmless(name: str, among: tuple[Harmless, ...]) -> Harmless | None:
    """The entry that covers a name, None where there is none."""
    return next((entry for entry in among if entry.covers(name)), None)


def meant(name: str, reserved: tuple[str, ...] = ()) -> str | None:
    """The setting that a name is a misspelling of by letter case or blanks alone: Spark takes no notice of
    such a name (measured).
    """
    known = {entry.name.lower(): entry.name for entry in SETTINGS if not entry.name.endswith(".")}
    known |= {known_name.lower(): known_name for known_name in (*VALUES, *reserved)}
    spelling = known.get(name.strip().lower())
    return None if spelling == name else spelling
