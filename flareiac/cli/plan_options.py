"""The options of commands that plan, and of those that show a plan."""

from typing import Annotated, Final, Literal, TypeAlias

import typer

from flareiac.app.plan import PlanRequest, Refresh
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.planning.make_plan import Maintenance, Options
from flareiac.render import resource_text

Targets: TypeAlias = Annotated[
    list[str] | None, typer.Option("--target", help="Only this address (or glob) and what it needs.")
]
Excluded: TypeAlias = Annotated[
    list[str] | None, typer.Option("--exclude", help="Not this address (or glob), nor what needs it.")
]
RefreshMode: TypeAlias = Literal["full", "changed", "none", "true", "false"]
Refreshed: TypeAlias = Annotated[
    RefreshMode,
    typer.Option("--refresh", help="How much is asked of the systems (true = changed, false = none)."),
]
MaxDestroys: TypeAlias = Annotated[
    int | None, typer.Option("--max-destroys", min=0, help="Refuse a plan that destroys more objects.")
]
Cost: TypeAlias = Annotated[
    str | None,
    typer.Option("--cost", help="Add what the actions cost, by this file of prices.", metavar="PRICES"),
]

_REFRESH: Final[dict[RefreshMode, Refresh]] = {
    "full": Refresh.FULL,
    "changed": Refresh.CHANGED,
    "none": Refresh.NONE,
    "true": Refresh.CHANGED,
    "false": Refresh.NONE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanOptions:
    """The options that decide what is planned."""

    target: Targets = None
    exclude: Excluded = None
    replace: Annotated[
        list[str] | None, typer.Option("--replace", help="Replace this address: destroy and create it.")
    ] = None
    refresh: Refreshed = "changed"
    maintenance: Annotated[
        Maintenance, typer.Option("--maintenance", help="What becomes of due maintenance.")
    ] = Maintenance.INCLUDE
    max_destroys: MaxDestroys = None

    def request(self, *, destroy: bool = False) -> PlanRequest:
        """The request that a user's options make of a plan. Raises ``typer.BadParameter`` for options that
        exclude each other.
        """
        if self.maintenance is Maintenance.ONLY and (destroy or self.replace):
            why = "-maintenance=only changes nothing else: it does not go with -destroy or -replace."
            raise typer.BadParameter(why)
        options = Options(
            targets=tuple(self.target or ()),
            exclude=tuple(self.exclude or ()),
            replace=frozenset(self.replace or ()),
            destroy=destroy,
            max_destroys=self.max_destroys,
            maintenance=self.maintenance,
        )
        return PlanRequest(options=options, refresh=_REFRESH[self.refresh])


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovalOptions:
    """The options that decide what is removed."""

    target: Targets = None
    exclude: Excluded = None
    refresh: Refreshed = "changed"
    max_destroys: MaxDestroys = None

    def request(self) -> PlanRequest:
        """The request for a plan that removes everything."""
        return PlanOptions(
            target=self.target, exclude=self.exclude, refresh=self.refresh, max_destroys=self.max_destroys
        ).request(destroy=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class DisplayOptions:
    """The options for the display of a plan."""

    detail: Annotated[resource_text.Detail, typer.Option("--detail", help="How much of a plan is shown.")] = (
        "changes"
    )
    show_steps: Annotated[
        bool,
        typer.Option("--show-steps", help="Show the operations in order, with the reason for each place."),
    ] = False
