"""``thing shine``, ``thing polish`` and ``thing rollback``."""

from typing import Annotated

import typer

from flareiac.kernel.diagnostics import Failure, error
from flareiac.sdk.command_line import CommandLine, RecordedProject, RecordedResource, driver_of
from flareiac.sdk.command_options import AutoApprove, Json
from flareiac.sdk.text_table import Column, TextTable
from flareiac_toy.shine import NEVER_SHONE, NOT_A_THING
from flareiac_toy.thing import ThingDriver

Address = Annotated[str, typer.Argument(help="The address of a thing.", metavar="ADDRESS")]


def shine(line: CommandLine, address: Address, as_json: Json = False) -> None:
    """Shows each shine that the thing has had."""
    with line.project() as project:
        thing = project.resource(address)
        steps = _driver(project, thing).shine(thing.recorded).steps
    if as_json:
        line.out_json({"address": address, "shine": [step.level for step in steps]})
    else:
        rows = tuple((str(step.level), step.by) for step in steps)
        line.out_table(TextTable((Column("SHINE", right=True), Column("BY")), rows))


def polish(line: CommandLine, address: Address) -> None:
    """Makes the thing shine by one more."""
    with line.state_change("thing polish") as project:
        thing = project.resource(address)
        driver = _driver(project, thing)
        level = driver.shine(thing.recorded).level + 1
        outcome = project.carry_out(thing, project.request(thing, "polish", level), driver.set_shine)
    for message in outcome.messages:
        line.out(message)


def rollback(line: CommandLine, address: Address, auto_approve: AutoApprove = False) -> None:
    """Goes back by one step."""
    with line.state_change("thing rollback") as project:
        thing = project.resource(address)
        driver = _driver(project, thing)
        steps = driver.shine(thing.recorded).steps
        if not steps:
            raise Failure(error(NEVER_SHONE, f"{address} was never polished."))
        level = steps[-2].level if len(steps) > 1 else 0
        line.confirm([f"{address} goes back to {level}"], "Is it to shine less?", approved=auto_approve)
        outcome = project.carry_out(thing, project.request(thing, "rollback", level), driver.set_shine)
    for message in outcome.messages:
        line.out(message)


def _driver(project: RecordedProject, resource: RecordedResource) -> ThingDriver:
    refused = error(NOT_A_THING, f"{resource.address} does not shine.")
    return driver_of(project, resource, ThingDriver, refused)
