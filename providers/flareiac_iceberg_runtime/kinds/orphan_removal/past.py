"""Tells a table's own past from what another catalog, or a writer that was killed, has made of its metadata.
Touches the table's files through the table's own file access.

A metadata file is of the table's past if the current one, or one of its past, has it in its log. Another file
with the table's uuid may be the current metadata of a copy that another catalog knows: the files alone do not
distinguish it from what a killed writer left.
"""

import re
from collections.abc import Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.table_tasks import TableWork, TaskRefusal
from flareiac_iceberg_runtime.file_names import plain
from flareiac_iceberg_runtime.kinds.orphan_removal.proof import uuid_in
from flareiac_iceberg_runtime.metadata_content import (
    Known,
    content_of,
    current_metadata,
    is_missing,
    metadata_in,
    unpacked,
)

_HEAD: Final = 64 * 1024
"""Nearly every writer names table and snapshot before that."""
_AT_ONCE: Final = 8
_CURRENT: Final = re.compile(rb'"current-snapshot-id"\s*:\s*(-?\d+|null)')
_NONE: Final = (b"-1", b"null")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """``files``: what stays, by ``plain``. ``unclear``: metadata files as they are spelled that may be those
    of a copy, or that no one can read. ``past``: the table's own earlier ones by ``plain``, oldest first.
    """

    files: frozenset[str]
    unclear: tuple[str, ...]
    past: tuple[str, ...]


class Past:
    """The metadata of a table as its catalog has it now, and all that came before."""

    def __init__(self, work: TableWork) -> None:
        work.table.refresh()
        self._work, self._io = work, work.table.io()
        location, self._metadata = current_metadata(work)
        self.uuid = self._metadata.uuid
        if self.uuid is None:
            raise TaskRefusal(
                "OTHER_TABLE", f"The table has no uuid: whose the files below {location} are is unknown."
            )
        self._snapshots = self._metadata.snapshots
        self._chain = self._walked(location)
        self._own = {plain(path) for path in self._chain}

    def _walked(self, location: str) -> list[str]:
        """The chain of the table's metadata files, oldest first, as far back as files tell."""
        chain = [*self._metadata.log, location]
        known = {plain(path) for path in chain}
        while (content := _readable(self._io, chain[0])) is not None and content.uuid == self.uuid:
            older = [path for path in content.log if plain(path) not in known]
            if not older:
                break
            chain = [*older, *chain]
            known.update(map(plain, older))
        return chain

    def judged(self, paths: Iterable[str], condemned: Collection[str], elsewhere: Collection[str]) -> Kept:
        """The files that stay because one of these metadata files, which the table does not name, may need
        them; ``condemned`` are those that would be deleted. Those ``elsewhere`` are outside of the table's
        location, where other tables may have theirs, too.

        Raises ``TaskRefusal`` where a copy of the table certainly goes on elsewhere, or one of another table
        is in its location.
        """
        own = {path for path in paths if path in condemned or plain(path) not in self._own}
        files = sorted(own.union(path for path in elsewhere if plain(path) not in self._own))
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            heads = dict(zip(files, pool.map(self._head, files), strict=True))
        kept: set[str] = set()
        unclear: list[str] = []
        for path, head in heads.items():
            if head is None:
                continue  # gone, or empty: no catalog reads a table from it
            if plain(path) in self._own:
                if self._is_readable(head):
                    kept.add(plain(path))
                continue
            named = self._named_by(path, skips_others=path in elsewhere)
            if named is not None:
                kept |= named
                if path in condemned:  # a younger one may be a commit that is being made
                    unclear.append(path)
        return Kept(files=frozenset(kept), unclear=tuple(unclear), past=tuple(map(plain, self._chain)))

    def _head(self, path: str) -> bytes | None:
        start = content_of(self._io, path, _HEAD)
        return start or None

    def _is_readable(self, start: bytes) -> bool:
        """Returns True where a table could still be read from earlier metadata: a copy that another catalog
        entered and never wrote needs it as long as its snapshot is there.
        """
        match = _CURRENT.search(_beginning(start))
        return match is None or match[1] in _NONE or int(match[1]) in self._snapshots

    def _named_by(self, path: str, *, skips_others: bool) -> set[str] | None:
        """All that stays for a metadata file that is not of the table's past; None where it is gone, or is of
        another table and may be.
        """
        try:
            metadata = metadata_in(self._io, path)
        except ValueError:
            return None if skips_others else self._torn(path)
        if metadata is None:
            return None
        if metadata.uuid != self.uuid:
            if skips_others:
                return None
            raise TaskRefusal(
                "OTHER_TABLE", f"The metadata file {path} is of another table than this one, or of none."
            )
        log = metadata.log
        upon_own = not log or plain(log[-1]) in self._own
        expected = metadata.current is None or metadata.current in self._snapshots
        if not expected and not upon_own:
            raise TaskRefusal(
                "OTHER_TABLE",
                f"Another catalog has committed to a copy of this table's metadata: {path}, upon "
                f"{log[-1]}, which this table does not know.",
            )
        if metadata.places != self._metadata.places and not expected:
            raise TaskRefusal(
                "OTHER_TABLE",
                f"Another catalog may go on with a copy of this table in another place: {path}.",
            )
        return {plain(path), *map(plain, self._reached(path, metadata))}

    def _torn(self, path: str) -> set[str]:
        """The file itself: a writer that was killed while it wrote left it. Metadata of another table is not
        torn by chance where this one's beginning stands.
        """
        uuid = uuid_in(_beginning(self._head(path) or b""))
        if uuid is not None and uuid != self.uuid:
            raise TaskRefusal(
                "OTHER_TABLE", f"The metadata file {path} is of another table than this one, or of none."
            )
        return {plain(path)}

    def _reached(self, path: str, metadata: Known) -> Iterable[str]:
        """The files that metadata names and the table's own snapshots may not name."""
        yield from metadata.named
        strange = metadata.snapshots - self._snapshots
        if not strange:
            return
        jvm = self._work.session._jvm.org.apache.iceberg
        try:
            parsed = jvm.TableMetadataParser.read(self._io, path)
        except Exception as failure:
            raise TaskRefusal(
                "OTHER_TABLE", f"The metadata file {path} cannot be read: {failure}."
            ) from failure
        for snapshot_id in sorted(strange):
            yield from self._files_of(parsed.snapshot(snapshot_id), path)

    def _files_of(self, snapshot: Any, path: str) -> Iterable[str]:
        jvm = self._work.session._jvm.org.apache.iceberg
        try:
            for manifest in snapshot.allManifests(self._io):
                yield str(manifest.path())
                # No specs: the manifest has its own. Iceberg 1.12 has no form of the method without them.
                with_paths = jvm.ManifestFiles.readPaths(manifest, self._io, None)
                try:
                    paths = with_paths.iterator()
                    while paths.hasNext():
                        yield str(paths.next())
                finally:
                    with_paths.close()
        except Exception as failure:
            if is_missing(failure):
                return  # expired: no one reads this snapshot any more
            raise TaskRefusal(
                "OTHER_TABLE", f"Files that the metadata file {path} names cannot be read: {failure}."
            ) from failure


def _readable(io: Any, path: str) -> Known | None:
    try:
        return metadata_in(io, path)
    except ValueError:
        return None


def _beginning(start: bytes) -> bytes:
    """The readable part of a packed file that is cut off in the middle."""
    try:
        return unpacked(start)
    except Exception:  # noqa: BLE001 - damaged: it tells nothing
        return b""
