"""The options that several commands share."""

from typing import Annotated, TypeAlias

import typer

Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Machine-readable output.")]
Variables: TypeAlias = Annotated[list[str] | None, typer.Option("--var", help="A variable: name=value. May be repeated.")]
VariableFiles: TypeAlias = Annotated[list[str] | None, typer.Option("--var-file", help="A file of variables. May be repeated.")]
Parallelism: TypeAlias = Annotated[int, typer.Option("--parallelism", min=1, help="Number of concurrent operations.")]
Targets: TypeAlias = Annotated[list[str] | None, typer.Option("--target", help="Only this address (or glob) and what it needs.")]
Excluded: TypeAlias = Annotated[list[str] | None, typer.Option("--exclude", help="Not this address (or glob), nor what needs it.")]
Replaced: TypeAlias = Annotated[list[str] | None, typer.Option("--replace", help="Replace this address: destroy and create it.")]
RefreshMode: TypeAlias = Annotated[str, typer.Option("--refresh", help="full | changed | none (true = changed, false = none).")]
MaxDestroys: TypeAlias = Annotated[int | None, typer.Option("--max-destroys", min=0, help="Refuse a plan that destroys more objects.")]
Timings: TypeAlias = Annotated[bool, typer.Option("--timings", help="Print the time of each phase.")]
Detail: TypeAlias = Annotated[str, typer.Option("--detail", help="summary | changes | full")]
ShowSteps: TypeAlias = Annotated[bool, typer.Option("--show-steps", help="Show the operations in order, with the reason for each place.")]
MaintenanceMode: TypeAlias = Annotated[str, typer.Option("--maintenance", help="include | only | exclude: due maintenance.")]
AutoApprove: TypeAlias = Annotated[bool, typer.Option("--auto-approve", help="Apply without asking.")]
OnError: TypeAlias = Annotated[str, typer.Option("--on-error", help="continue | stop: what a failure means for independent operations.")]
