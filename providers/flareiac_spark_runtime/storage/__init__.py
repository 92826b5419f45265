"""Places that may be local folders or object storage: checkpoints and control directories.

A local place is a ``pathlib.Path``; an object has an ``ObjectPath`` with the same names for reading. Which
client answers is set once for a process: boto3 in the command line, Hadoop's file systems in a driver, which
needs no package for it. Failures are ``OSError`` in both.
"""

from flareiac_spark_runtime.storage.object_path import ObjectPath
from flareiac_spark_runtime.storage.object_store import Listed, ObjectStore, Version
from flareiac_spark_runtime.storage.places import (
    Place,
    is_object_uri,
    object_uri,
    open_with,
    place_at,
    seen_at_once,
)
from flareiac_spark_runtime.storage.writing import make_folder, move_folder, remove_tree, replace_whole

__all__ = [
    "Listed",
    "ObjectPath",
    "ObjectStore",
    "Place",
    "Version",
    "is_object_uri",
    "make_folder",
    "move_folder",
    "object_uri",
    "open_with",
    "place_at",
    "remove_tree",
    "replace_whole",
    "seen_at_once",
]
