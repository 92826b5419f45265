"""The address and the file by which the driver of an engine can be probed, as users may write them. Pure."""

from pathlib import PurePosixPath

from flareiac.kernel.data import Data
from flareiac_spark_runtime.listen_address import listen_address


def is_listen_address(value: Data) -> str | None:
    """``HOST:PORT``."""
    if isinstance(value, str) and listen_address(value) is not None:
        return None
    return (
        f'{value!r} is not an address with a port. Write "127.0.0.1:9188" for this host alone, or '
        '"0.0.0.0:9188" for every interface. Anyone who reaches the port can read the metrics.'
    )


def is_absolute_path(value: Data) -> str | None:
    """Returns the complaint about a path that is not the absolute path of a file, None for one that is. The
    driver may run on another host, in another folder.
    """
    if isinstance(value, str) and value.startswith("/") and PurePosixPath(value).name not in ("", ".."):
        return None
    return f'{value!r} is not an absolute path of a file. Write one as "/run/flareiac/alive".'
