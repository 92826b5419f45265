"""The Spark settings that a checkpoint block means for the job that uses it. Pure."""

from typing import Final

from flareiac.kernel.data import Attributes

PROVIDERS: Final = {
    "rocksdb": "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    "hdfs": "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider",
}


def conf_of(attributes: Attributes) -> dict[str, str]:
    """The Spark settings that a checkpoint means for the job that uses it."""
    conf = {"spark.sql.streaming.minBatchesToRetain": str(attributes["min_batches_to_retain"])}
    store = attributes["state_store"] or {}
    if store.get("provider"):
        conf["spark.sql.streaming.stateStore.providerClass"] = PROVIDERS[store["provider"]]
    if store.get("changelog") is not None:
        conf["spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"] = str(
            store["changelog"]
        ).lower()
    if store.get("partitions"):
        conf["spark.sql.shuffle.partitions"] = str(store["partitions"])
    return conf
