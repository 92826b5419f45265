"""Proves before every start of a query, the first one and each retry, what a plan proves of the files on
disk.

Reads folders; changes nothing. Tables prove their uuids where they are opened. A refusal is permanent: the
same start would find the same, and a start on an empty checkpoint would read everything again and repeat its
rows.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from flareiac_spark.control import FilesInput, FilesSource, JobSpec, StreamInput, local_path
from flareiac_spark.control.atomic_files import read_json
from flareiac_spark.control.checkpoint_identity import lost_checkpoint
from flareiac_spark.driver.checkpoints import query_id_in
from flareiac_spark.driver.files_in_flight import missing_in_flight
from flareiac_spark.driver.refusal import Refusal

CHECKPOINT_LOST = "CHECKPOINT_LOST"
CHECKPOINT_DAMAGED = "CHECKPOINT_DAMAGED"
SOURCE_FILE_GONE = "SOURCE_FILE_GONE"
_PATTERN = re.compile(r"[*?\[{]")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")


def prove_start(spec: JobSpec, known: Mapping[str, str]) -> None:
    """``known``: the query that each checkpoint of this job must hold, by folder. Raises ``Refusal``."""
    for folder, query in spec.query_names.items():
        _prove_checkpoint(folder, query, known.get(folder))
        if not _passes_over_missing_files(spec):
            _prove_files_in_flight(local_path(folder), query)
    for name, path in _source_folders(spec):
        if not path.exists():
            why = (
                f"The folder {path}, which the input {name!r} reads, does not exist. Create it, or put "
                "it back where it was."
            )
            raise Refusal("SOURCE_FOLDER_NOT_FOUND", why)


def _prove_checkpoint(folder: str, output: str, known: str | None) -> None:
    found = _query_in(local_path(folder), output)
    if known is None:
        return
    lost = lost_checkpoint(folder, output, known=known, found=found)
    if lost is not None:
        why = (
            f"{lost.what}. {lost.why} Put the folder back where it was; flareiac plan names the other "
            "ways out (FIK060)."
        )
        raise Refusal(CHECKPOINT_LOST, why)


def _query_in(path: Path, output: str) -> str | None:
    """The query that a checkpoint names, None before the first start. Raises ``Refusal``."""
    metadata = path / "metadata"
    try:
        return query_id_in(path)
    except FileNotFoundError:
        _refuse_half_a_copy(path, output)
        return None
    except (OSError, ValueError, KeyError, TypeError) as failure:
        raise Refusal(
            CHECKPOINT_DAMAGED, _damaged(output, f"{metadata} cannot be read ({failure})")
        ) from None


def _refuse_half_a_copy(path: Path, output: str) -> None:
    """Without ``metadata`` Spark takes a new query id and goes on with the offsets of the old query, unless
    they were prepared for it.
    """
    logs = [
        log
        for log in ("offsets", "commits")
        if (path / log).is_dir() and any(item.name.isdigit() for item in (path / log).iterdir())
    ]
    if logs and not _is_prepared(path):
        raise Refusal(
            CHECKPOINT_DAMAGED,
            _damaged(output, f"{path / 'metadata'} is missing, and {' and '.join(logs)} are there"),
        )


def _is_prepared(path: Path) -> bool:
    """Whether a new generation was prepared in this folder, by the note beside it."""
    note = read_json(path.with_name(f".{path.name}.starts.json"))
    return isinstance(note, dict) and isinstance(note.get("seeded"), dict)


def _damaged(output: str, what: str) -> str:
    return (
        f"The checkpoint of output {output} is damaged: {what}. Put back a whole copy of the folder, or "
        "raise its generation."
    )


def _passes_over_missing_files(spec: JobSpec) -> bool:
    """Whether the job says that it goes on without the rows of files that are gone."""
    sources = [
        item.source.options
        for item in spec.inputs
        if isinstance(item, StreamInput) and isinstance(item.source, FilesSource)
    ]
    said = [spec.conf, *sources]
    names = {name.lower(): str(value).lower() for settings in said for name, value in settings.items()}
    return "true" in (names.get("spark.sql.files.ignoremissingfiles"), names.get("ignoremissingfiles"))


def _prove_files_in_flight(path: Path, output: str) -> None:
    try:
        found = missing_in_flight(path)
    except (OSError, ValueError) as failure:
        raise Refusal(CHECKPOINT_DAMAGED, _damaged(output, f"its logs cannot be read ({failure})")) from None
    if found is not None:
        batch, files = found
        others = len(files) - 1
        which = files[0] + (f" and {others:,} more file{'s' * (others > 1)}" if others else "")
        why = (
            f"Batch {batch} of output {output} was begun and is done again, and of the files that it reads "
            f"{which} "
            f"{'are' if others else 'is'} gone: Spark would pass over {'them' if others else 'it'} without "
            "a word, and the rows would be "
            "missing for good. Put back what was deleted; or, to go on without these rows, write in the job: "
            'conf = { "spark.sql.files.ignoreMissingFiles" = "true" }.'
        )
        raise Refusal(SOURCE_FILE_GONE, why)


def _source_folders(spec: JobSpec) -> Iterator[tuple[str, Path]]:
    """Local folders and files that are read by name. A pattern may match later."""
    for item in spec.inputs:
        match item:
            case StreamInput(source=FilesSource(path=path)) | FilesInput(path=path):
                local = str(local_path(path))
                if not _PATTERN.search(local) and not _SCHEME.match(local):
                    yield item.name, Path(local)
            case _:
                pass
