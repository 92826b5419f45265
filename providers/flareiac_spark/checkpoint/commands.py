"""``checkpoint show`` and ``checkpoint gc``: what a job has read, and generations past their use."""

import time
from collections.abc import Iterator, Sequence
from typing import Annotated

import typer

from flareiac.kernel.diagnostics import error
from flareiac.sdk.command_line import CommandLine, RecordedProject, RecordedResource, driver_of
from flareiac.sdk.command_options import Json
from flareiac_spark import codes
from flareiac_spark.checkpoint.description import DescribedInput, DescribedLag
from flareiac_spark.checkpoint.driver import CheckpointDriver
from flareiac_spark.checkpoint.text import checkpoint_json, checkpoint_text
from flareiac_spark.observation.job import KnowsReach
from flareiac_spark.sources.findings_text import complaint

Address = Annotated[str, typer.Argument(help="The address of a checkpoint.", metavar="ADDRESS")]
AnyAddress = Annotated[
    str | None, typer.Argument(help="The address of a checkpoint; without it, all.", metavar="[ADDRESS]")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say what would be removed.")]


def show(line: CommandLine, address: Address, as_json: Json = False) -> None:
    """Shows what is in a checkpoint."""
    with line.project() as project:
        checkpoint = project.resource(address)
        driver = _driver(project, checkpoint)
        doing = {dependent.address: project.running(dependent) for dependent in project.dependents(address)}
        jobs = {job: row for job, row in doing.items() if row is not None}
        inside = driver.describe(address, checkpoint.recorded)
        inputs = [
            described
            for dependent in project.dependents(address)
            for described in _inputs(project, dependent)
        ]
    if as_json:
        line.out_json(checkpoint_json(address, inside, jobs, inputs))
    else:
        line.out(checkpoint_text(address, inside, jobs, inputs, now=time.time()))


def _inputs(project: RecordedProject, job: RecordedResource) -> Iterator[DescribedInput]:
    """The inputs of a job with their lag, as the brokers report it."""
    driver = project.driver(job)
    if not isinstance(driver, KnowsReach):
        return
    for query, inputs in driver.reach(job.recorded, job.references).items():
        for name, reach in inputs.items():
            offsets = reach.lag.offsets if reach.lag is not None else {}
            yield DescribedInput(
                job=job.address,
                output=query,
                input=name,
                lag=tuple(
                    DescribedLag(topic=topic, partition=number, records=records)
                    for (topic, number), records in sorted(offsets.items())
                ),
                problems=tuple(
                    text
                    for finding in reach.findings
                    if (text := complaint(finding, reach.words)) is not None
                ),
            )


def gc(line: CommandLine, address: AnyAddress = None, dry_run: DryRun = False) -> None:
    """Removes generations that are no longer needed."""
    with line.project() if dry_run else line.locked_project("checkpoint gc") as project:
        lines = [
            f"{checkpoint.address}: {text}"
            for checkpoint in _checkpoints(project, address)
            for text in _driver(project, checkpoint).delete_unused(
                checkpoint.address,
                checkpoint.recorded,
                [dependent.recorded for dependent in project.dependents(checkpoint.address)],
                dry_run=dry_run,
            )
        ]
    for text in lines or [
        "Nothing to remove: no checkpoint has more generations than it keeps, or a copy of a move."
    ]:
        line.out(text)


def _checkpoints(project: RecordedProject, address: str | None) -> Sequence[RecordedResource]:
    if address is not None:
        return [project.resource(address)]
    return [resource for resource in project.resources() if resource.type == "checkpoint"]


def _driver(project: RecordedProject, resource: RecordedResource) -> CheckpointDriver:
    refused = error(
        codes.NOT_A_CHECKPOINT,
        f"{resource.address} is not a checkpoint. Write the address of a checkpoint; the block of a job "
        "names its own.",
    )
    return driver_of(project, resource, CheckpointDriver, refused)
