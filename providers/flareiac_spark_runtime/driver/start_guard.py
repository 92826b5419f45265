"""Proves before every start of a query, the first one and each retry, what a plan proves of the files on
disk.

Reads folders, and asks the systems of sources that know more than their checkpoints. Tables prove their uuids
where they are opened. A refusal is permanent, but for what the start waits for: the same start would find the
same, and a start on an empty checkpoint would read everything again and repeat its rows.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import assert_never

from flareiac_spark_runtime.checkpoint_log import ARRIVING_FROM, MANAGED_BY, MOVED_TO, Damaged
from flareiac_spark_runtime.control import ControlError, FilesInput, Input, JobSpec, StreamInput, TableInput
from flareiac_spark_runtime.control.atomic_files import read_json
from flareiac_spark_runtime.control.checkpoint_identity import lost_checkpoint
from flareiac_spark_runtime.driver.checkpoints import query_id_in
from flareiac_spark_runtime.driver.jvm import jvm
from flareiac_spark_runtime.driver.refusal import Refusal, refusal_of
from flareiac_spark_runtime.sources.path_patterns import is_pattern
from flareiac_spark_runtime.storage import Place, place_at

CHECKPOINT_LOST = "CHECKPOINT_LOST"
CHECKPOINT_DAMAGED = "CHECKPOINT_DAMAGED"
CHECKPOINT_MOVED = "CHECKPOINT_MOVED"
_GENERATION = re.compile(r"g[0-9]{4,9}")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")


def prove_start(spec: JobSpec, known: Mapping[str, str]) -> None:
    """``known``: the query that each checkpoint of this job must hold, by folder. Raises ``Refusal``."""
    for folder, query in spec.query_names.items():
        _refuse_moved(place_at(folder))
        _prove_checkpoint(folder, query, known.get(folder))
        _prove_batch_in_flight(spec, place_at(folder), query)
    _prove_sources(spec)
    for name, path in _source_folders(spec):
        if not path.exists():
            why = (
                f"The folder {path}, which the input {name!r} reads, does not exist. Create it, or put "
                "it back where it was."
            )
            raise Refusal("SOURCE_FOLDER_NOT_FOUND", why)


def _refuse_moved(folder: Place) -> None:
    """The mark of a move is in the location of a checkpoint: two levels above the folder of a query, or in
    that of an imported one. Raises ``Refusal``.
    """
    location = folder.parent.parent if _GENERATION.fullmatch(folder.name) else folder
    try:
        mark = read_json(location / MANAGED_BY) or {}
    except ControlError as failure:
        why = f"{failure}. It says whether the checkpoint was moved."
        raise Refusal(CHECKPOINT_DAMAGED, why) from None
    if mark.get(MOVED_TO):
        why = f"The checkpoint in {location} was moved to {mark[MOVED_TO]}"
    elif mark.get(ARRIVING_FROM):
        why = f"What is in {location} is a copy of {mark[ARRIVING_FROM]} that is not complete"
    else:
        return
    raise Refusal(CHECKPOINT_MOVED, f"{why}. flareiac apply completes the move and starts the job.")


def _prove_checkpoint(folder: str, output: str, known: str | None) -> None:
    id_on_disk = _query_in(place_at(folder), output)
    if known is None:
        return
    lost = lost_checkpoint(folder, output, known=known, id_on_disk=id_on_disk)
    if lost is not None:
        why = (
            f"{lost.what}. {lost.why} Put the folder back where it was; flareiac plan names the other "
            "ways out (FIK060)."
        )
        raise Refusal(CHECKPOINT_LOST, why)


def _query_in(path: Place, output: str) -> str | None:
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


def _refuse_half_a_copy(path: Place, output: str) -> None:
    """Without ``metadata`` Spark takes a new query id and goes on with the offsets of the old query, unless
    they were prepared for it.
    """
    logs = [
        log
        for log in ("offsets", "commits")
        if (path / log).is_dir() and any(entry.name.isdigit() for entry in (path / log).iterdir())
    ]
    if logs and not _is_prepared(path):
        raise Refusal(
            CHECKPOINT_DAMAGED,
            _damaged(output, f"{path / 'metadata'} is missing, and {' and '.join(logs)} are there"),
        )


def _is_prepared(path: Place) -> bool:
    """Returns True if a new generation was prepared in this folder, by the note beside it."""
    note = read_json(path.with_name(f".{path.name}.starts.json"))
    return isinstance(note, dict) and isinstance(note.get("seeded"), dict)


def _damaged(output: str, what: str) -> str:
    return (
        f"The checkpoint of output {output} is damaged: {what}. Put back a whole copy of the folder, or "
        "raise its generation."
    )


def _prove_batch_in_flight(spec: JobSpec, path: Place, output: str) -> None:
    sources = [job_input.source for job_input in spec.inputs if isinstance(job_input, StreamInput)]
    try:
        losses = [lost for source in sources if (lost := source.lost_in_flight(path, spec.conf)) is not None]
    except (Damaged, OSError) as failure:
        raise Refusal(CHECKPOINT_DAMAGED, _damaged(output, f"its logs cannot be read ({failure})")) from None
    for lost in losses:
        why = f"Batch {lost.batch} of output {output} was begun and is done again, and {lost.why}"
        raise Refusal(lost.error_class, why)


def _prove_sources(spec: JobSpec) -> None:
    """Each source asks its system whether every query can go on."""
    sources = [job_input.source for job_input in spec.inputs if isinstance(job_input, StreamInput)]
    checkpoints = [place_at(folder) for folder in spec.query_names]
    for source in sources:
        others = [other for other in sources if other is not source]
        try:
            problem = source.prove_start(jvm, checkpoints, others)
        except (Damaged, OSError, ValueError) as failure:
            what = f"the positions of its streams cannot be read ({failure})"
            raise Refusal(
                CHECKPOINT_DAMAGED, _damaged(" and ".join(spec.query_names.values()), what)
            ) from None
        if problem is not None:
            raise refusal_of(problem)


def _source_folders(spec: JobSpec) -> Iterator[tuple[str, Place]]:
    """Local folders and files that are read by name. A pattern may match later."""
    for job_input in spec.inputs:
        path = _path_of(job_input)
        local = str(place_at(path)) if path is not None else ""
        if local and not is_pattern(local) and not _SCHEME.match(local):
            yield job_input.name, Path(local)


def _path_of(job_input: Input) -> str | None:
    match job_input:
        case StreamInput():
            return job_input.source.folder
        case FilesInput():
            return job_input.path
        case TableInput():
            return None
        case _:
            assert_never(job_input)
