"""Locations of files as texts, and the properties that say where a table writes. Pure; it runs where Spark
runs.
"""

from typing import Final

DATA_PATHS: Final = ("write.data.path", "write.folder-storage.path", "write.object-storage.path")
METADATA_PATH: Final = "write.metadata.path"


def name_of(path: str) -> str:
    """Its last part."""
    return path.rpartition("/")[2]


def plain(location: str) -> str:
    """One spelling: local files as paths, S3 with one name of its scheme."""
    scheme, colon, rest = location.partition(":")
    match scheme.lower() if colon else "":
        case "file":
            return "/" + rest.lstrip("/")
        case "s3" | "s3a" | "s3n":
            return f"s3:{rest}"
        case _:
            return location
