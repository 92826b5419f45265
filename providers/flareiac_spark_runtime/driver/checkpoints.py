"""The checkpoints in use: within one application no two queries use the same one."""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from flareiac.kernel.data import parse_json
from flareiac_spark_runtime.checkpoint_log import names_in
from flareiac_spark_runtime.control import JobSpec
from flareiac_spark_runtime.driver.refusal import Refusal
from flareiac_spark_runtime.storage import Place, place_at

_SCRAP = re.compile(r"\.{1,2}\d+\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.tmp(\.crc)?")
"""An entry of a log as Spark writes it before it gives it its name, and its checksum."""


class Checkpoints:
    def __init__(self) -> None:
        self._lock, self._users = threading.Lock(), dict[str, str]()

    @contextmanager
    def used_by(self, spec: JobSpec) -> Iterator[None]:
        """Raises ``Refusal`` (worth another try: a stopping query frees its own). The outputs of one query
        have one checkpoint.
        """
        queries = dict.fromkeys(
            (spec.query_of(output.name), str(place_at(output.checkpoint).resolve()))
            for output in spec.outputs
            if output.checkpoint is not None
        )
        paths = [path for _query, path in queries]
        with self._lock:
            for path in paths:
                user = self._users.get(path)
                if user is not None or paths.count(path) > 1:
                    why = f"The checkpoint {path} is in use by {user or 'another output of this job'}."
                    raise Refusal("CHECKPOINT_IN_USE", why, permanent=user is None)
            self._users.update(dict.fromkeys(paths, spec.address))
        try:
            yield
        finally:
            with self._lock:
                for path in paths:
                    self._users.pop(path, None)


def clear_scraps(checkpoint: str) -> None:
    """Removes what a process left that was killed before its first batch had offsets: over it the query could
    never start again.

    Spark refuses a log that holds anything but entries, and Iceberg does not write the place where a stream
    of a table begins in one step (facts ``checkpoint.first-offsets-torn``,
    ``checkpoint.initial-offset-torn``). A checkpoint with batches is left as it is.
    """
    folder = place_at(checkpoint)
    entries = list((folder / "offsets").iterdir()) if (folder / "offsets").is_dir() else []
    if not all(_SCRAP.fullmatch(entry.name) for entry in entries):
        return
    for source in names_in(folder / "sources"):
        place = folder / "sources" / source / "offsets" / "0"
        if place.is_file() and not _is_json(place):
            entries += [place, place.with_name(".0.crc")]
    for entry in entries:
        entry.unlink(missing_ok=True)


def _is_json(path: Place) -> bool:
    try:
        parse_json(path.read_bytes())
    except ValueError:
        return False
    return True


def query_id_in(folder: Place) -> str:
    """The query that a checkpoint names. Raises ``OSError``, ``ValueError``, ``KeyError`` or ``TypeError``
    where it names none.
    """
    return str(parse_json((folder / "metadata").read_text(encoding="utf-8"))["id"])


def confirm(query: Any, checkpoint: str, name: str) -> None:
    """That a started query is the one that its checkpoint names. Raises ``Refusal``."""
    try:
        recorded = query_id_in(place_at(checkpoint))
    except (OSError, ValueError, KeyError, TypeError) as failure:
        why = f"{checkpoint}/metadata cannot be read: {failure}"
        raise Refusal("CHECKPOINT_UNREADABLE", why, permanent=False) from None
    if (recorded, name) != (query.id, query.name):
        why = (
            f"The query started as {query.name} with id {query.id}; its checkpoint {checkpoint} says "
            f"{recorded}."
        )
        raise Refusal("QUERY_MISMATCH", why)
