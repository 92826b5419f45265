"""The Spark settings that a checkpoint block means for the job that uses it. Pure."""

from typing import Final

from flareiac_spark.definition.checkpoint_definition import CheckpointDefinition

PROVIDERS: Final = {
    "rocksdb": "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    "hdfs": "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider",
}


def conf_of(checkpoint: CheckpointDefinition) -> dict[str, str]:
    """The Spark settings that a checkpoint means for the job that uses it."""
    conf = {"spark.sql.streaming.minBatchesToRetain": str(checkpoint.min_batches_to_retain)}
    store = checkpoint.state_store
    if store is not None and store.provider:
        conf["spark.sql.streaming.stateStore.providerClass"] = PROVIDERS[store.provider]
    if store is not None and store.changelog is not None:
        name = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"
        conf[name] = str(store.changelog).lower()
    if store is not None and store.partitions:
        conf["spark.sql.shuffle.partitions"] = str(store.partitions)
    return conf
