"""The options of commands that plan, and the request that they make together."""

from collections.abc import Sequence
from typing import Annotated, Final, Literal, TypeAlias

import typer

from flareiac.app.plan import PlanRequest, Refresh
from flareiac.planning.make_plan import Maintenance, Options
from flareiac.render import resource_text

Targets: TypeAlias = Annotated[
    list[str] | None, typer.Option("--target", help="Only this address (or glob) and what it needs.")
]
Excluded: TypeAlias = Annotated[
    list[str] | None, typer.Option("--exclude", help="Not this address (or glob), nor what needs it.")
]
Replaced: TypeAlias = Annotated[
    list[str] | None, typer.Option("--replace", help="Replace this address: destroy and create it.")
]
RefreshMode: TypeAlias = Literal["full", "changed", "none", "true", "false"]
Refreshed: TypeAlias = Annotated[
    RefreshMode,
    typer.Option("--refresh", help="How much is asked of the systems (true = changed, false = none)."),
]
MaintenanceMode: TypeAlias = Annotated[
    Maintenance, typer.Option("--maintenance", help="What becomes of due maintenance.")
]
MaxDestroys: TypeAlias = Annotated[
    int | None, typer.Option("--max-destroys", min=0, help="Refuse a plan that destroys more objects.")
]
Detail: TypeAlias = Annotated[
    resource_text.Detail, typer.Option("--detail", help="How much of a plan is shown.")
]
ShowSteps: TypeAlias = Annotated[
    bool, typer.Option("--show-steps", help="Show the operations in order, with the reason for each place.")
]
Timings: TypeAlias = Annotated[bool, typer.Option("--timings", help="Print the time of each phase.")]

_REFRESH: Final[dict[RefreshMode, Refresh]] = {
    "full": Refresh.FULL,
    "changed": Refresh.CHANGED,
    "none": Refresh.NONE,
    "true": Refresh.CHANGED,
    "false": Refresh.NONE,
}


def plan_request(
    *,
    target: Sequence[str] | None = None,
    exclude: Sequence[str] | None = None,
    replace: Sequence[str] | None = None,
    refresh: RefreshMode = "changed",
    maintenance: Maintenance = Maintenance.INCLUDE,
    max_destroys: int | None = None,
    destroy: bool = False,
) -> PlanRequest:
    """What a user asks of a plan. Raises ``typer.BadParameter`` for options that exclude each other."""
    if maintenance is Maintenance.ONLY and (destroy or replace):
        why = "-maintenance=only changes nothing else: it does not go with -destroy or -replace."
        raise typer.BadParameter(why)
    options = Options(
        targets=tuple(target or ()),
        exclude=tuple(exclude or ()),
        replace=frozenset(replace or ()),
        destroy=destroy,
        max_destroys=max_destroys,
        maintenance=maintenance,
    )
    return PlanRequest(options=options, refresh=_REFRESH[refresh])
