"""Looks at the folders whose files a job streams, and says what is not read, or not as it is written. Touches
the disk, by reading only.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from flareiac.kernel.diagnostics import Diagnostic, warning
from flareiac.sdk.changes import Blocker
from flareiac.sdk.project import Project
from flareiac.sdk.requests import ReadRequest
from flareiac_spark import codes
from flareiac_spark.change.kept_reading import with_kept_reading
from flareiac_spark.checkpoint_files.reader import CheckpointOnDisk
from flareiac_spark.definition.input_columns import input_columns
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.generation.job_case import JobCase
from flareiac_spark.job.samples import fields_text
from flareiac_spark.observation.job import JobFacts
from flareiac_spark.sources.folder_look import FolderLook, looked_at
from flareiac_spark_runtime.storage import Place


def folders_looked_at(
    request: ReadRequest,
    job: JobDefinition,
    declared: JobDefinition | None,
    checkpoints: Mapping[str, tuple[Place, CheckpointOnDisk | None]],
    project: Project,
) -> dict[str, FolderLook]:
    """The looks at the folders of a job's streams, by input. ``job`` is the recorded or declared definition;
    ``checkpoints`` are its folders, by query.
    """
    reads = job if declared is None else with_kept_reading(declared, job if request.recorded else None)
    streams = {name: stream for name, stream in reads.streams.items() if stream.source.folder is not None}
    folder_looks: dict[str, FolderLook] = {}
    for name, stream in streams.items():
        # A log does not name its stream
        logs = [
            (place, source.index)
            for place, on_disk in checkpoints.values()
            for source in (on_disk.sources if on_disk is not None else ())
            if source.kind == stream.source.kind and len(streams) == 1
        ]
        how = stream.source.folder_read(input_columns(stream, request.references), logs, project)
        look = looked_at(how) if how is not None else None
        if look is not None:
            folder_looks[name] = look
    return folder_looks


def warnings(case: JobCase) -> Iterator[Diagnostic]:
    """The warnings about the folders of the streams of a job."""
    for name, stream in case.desired.streams.items():
        if case.request.recorded is not None and (text := stream.source.old_rules):
            yield warning(
                codes.FILES_READ_BY_OLD_RULES, f"Input {name}: {text}", address=case.request.address
            )
        look = case.facts.folders.get(name)
        if look is None:
            continue
        for note in stream.source.folder_notes(look, begun=case.facts.started):
            yield warning(note.code, f"Input {name}: {note.text}", address=case.request.address)
        for fields in look.fields:
            which = f"{fields.having} of the first {fields.records} records"
            text = fields_text(
                f"{which} of the newest files in {fields.topic} have fields that are not read.", fields
            )
            yield warning(codes.RECORD_FIELDS_NEW, f"Input {name}: {text}", address=case.request.address)


def blockers(desired: JobDefinition, facts: JobFacts) -> Iterator[Blocker]:
    """The reasons that keep the queries of a job from reading their folders."""
    for name, stream in desired.streams.items():
        for refusal in stream.source.folder_blockers(facts.folders.get(name), desired.conf):
            yield replace(refusal, why=f"Input {name}: {refusal.why}")


def complaints(job: JobDefinition, facts: JobFacts) -> Iterator[str]:
    """The complaints about files that a running job leaves unread, or reads twice."""
    for name, stream in job.streams.items():
        look = facts.folders.get(name)
        if look is None:
            continue
        for note in stream.source.folder_notes(look, begun=facts.started):
            if note.unread:
                yield f"input {name}: {note.text.rstrip('.')}"
