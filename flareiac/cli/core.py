"""``validate``, ``plan``, ``apply``, ``destroy``, ``maintain``, ``drift``, ``show``, ``output``."""

import contextlib
import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flareiac.cli import terminal
from flareiac.cli.exit_codes import ExitCode
from flareiac.cli.locking import lock_timeout
from flareiac.cli.options import (
    AutoApprove,
    Detail,
    Excluded,
    Json,
    MaintenanceMode,
    MaxDestroys,
    OnError,
    Parallelism,
    RefreshMode,
    Replaced,
    ShowSteps,
    Targets,
    Timings,
    VariableFiles,
    Variables,
)
from flareiac.kernel import codes

if TYPE_CHECKING:
    from flareiac.app.apply import ApplyReport, Conduct
    from flareiac.app.bench import Bench
    from flareiac.app.plan import PlanReport, PlanRequest
    from flareiac.model.desired import OutputValue
    from flareiac.model.plan import Plan


def register(app: typer.Typer) -> None:
    """Adds these commands to the tree."""
    for command in (validate, plan, apply, destroy, maintain, drift, show, output):
        app.command()(command)


def validate(as_json: Json = False, var: Variables = None, var_file: VariableFiles = None) -> int:
    """Check the configuration without reading any system."""
    from flareiac.kernel.diagnostics import Diagnostics
    from flareiac.model.snapshot import Snapshot
    from flareiac.planning.claims import collect, conflicts
    from flareiac.planning.rival_writers import rivals

    bench = _bench(10, var, var_file)
    diagnostics = Diagnostics()
    configuration = bench.load_configuration(Snapshot(lineage=""), diagnostics)
    references = {address: item.resolved() for address, item in configuration.desired.resources.items()}
    if not diagnostics.has_errors:
        claims = collect(configuration.desired, bench.installed.registry.types, references)
        diagnostics.extend(conflicts(claims, configuration.desired))
        diagnostics.extend(rivals(claims, configuration.desired))
    if as_json:
        from flareiac.render.diagnostics import validate_json

        terminal.out(json.dumps(validate_json(diagnostics, configuration.sources), indent=2))
    else:
        terminal.complain(diagnostics, configuration.sources)
        if not diagnostics.has_errors:
            terminal.out("Success! The configuration is valid.")
    return ExitCode.ERROR if diagnostics.has_errors else ExitCode.DONE


def plan(
    out: Annotated[str | None, typer.Option("--out", help="Save the plan to this file.")] = None,
    destroy: Annotated[bool, typer.Option("--destroy", help="Plan to remove everything.")] = False,
    detailed_exitcode: Annotated[bool, typer.Option("--detailed-exitcode", help="Exit with 2 when there are changes.")] = False,
    as_json: Json = False,
    json_into: Annotated[str | None, typer.Option("--json-into", help="Write the plan as JSON to this file.")] = None,
    target: Targets = None,
    exclude: Excluded = None,
    replace: Replaced = None,
    refresh: RefreshMode = "changed",
    maintenance: MaintenanceMode = "include",
    max_destroys: MaxDestroys = None,
    var: Variables = None,
    var_file: VariableFiles = None,
    parallelism: Parallelism = 10,
    detail: Detail = "changes",
    show_steps: ShowSteps = False,
    timings: Timings = False,
) -> int:
    """Show what would happen to tables, data, running queries and their state. Changes nothing."""
    from flareiac.app.plan import plan as make

    bench = _bench(parallelism, var, var_file)
    request = _request(target, exclude, replace, refresh, max_destroys, destroy=destroy, maintenance=maintenance)
    try:
        report = make(bench, request)
    finally:
        bench.close()
    _show_plan(report, as_json=as_json, detail=detail, show_steps=show_steps)
    if report.plan is not None and not report.plan.errored:
        _save(report.plan, out, json_into, bench)
    if timings:
        terminal.say("Timings: " + ", ".join(f"{name} {seconds:.3f} s" for name, seconds in bench.timings.items()))
    if out and not as_json and report.plan is not None and not report.plan.errored:
        terminal.out(f"\nSaved the plan to {out}. To do exactly this, run:\n  flareiac apply {out}")
    return _plan_code(report, detailed=detailed_exitcode)


def _plan_code(report: "PlanReport", *, detailed: bool) -> ExitCode:
    if report.plan is None or report.diagnostics.has_errors:
        return ExitCode.ERROR
    if report.plan.blocked:
        return ExitCode.BLOCKED
    changed = bool(report.plan.changes or report.plan.output_changes)
    return ExitCode.CHANGES if detailed and changed else ExitCode.DONE


def apply(
    file: Annotated[str | None, typer.Argument(help="A saved plan. Without one, apply plans first and asks.", metavar="[PLAN]")] = None,
    auto_approve: AutoApprove = False,
    on_error: OnError = "continue",
    as_json: Json = False,
    target: Targets = None,
    exclude: Excluded = None,
    replace: Replaced = None,
    refresh: RefreshMode = "changed",
    maintenance: MaintenanceMode = "include",
    max_destroys: MaxDestroys = None,
    var: Variables = None,
    var_file: VariableFiles = None,
    parallelism: Parallelism = 10,
    detail: Detail = "changes",
    show_steps: ShowSteps = False,
) -> int:
    """Carry out a plan. A second apply of the same configuration does nothing."""
    if file is None:
        request = _request(target, exclude, replace, refresh, max_destroys, destroy=False, maintenance=maintenance)
        return _apply_fresh(request, var, var_file, parallelism, on_error, detail, show_steps, auto_approve=auto_approve, as_json=as_json)
    planning = {
        "-target": target,
        "-exclude": exclude,
        "-replace": replace,
        "-var": var,
        "-var-file": var_file,
        "-max-destroys": max_destroys,
    }
    wrong = [name for name, value in planning.items() if value is not None] + (["-refresh"] if refresh != "changed" else [])
    wrong += ["-maintenance"] if maintenance != "include" else []
    if wrong:
        raise typer.BadParameter(f"{', '.join(wrong)} cannot be used with a saved plan: everything was decided when it was made.")
    return _apply_saved(file, parallelism, on_error, auto_approve=auto_approve, as_json=as_json)


def destroy(
    auto_approve: AutoApprove = False,
    on_error: OnError = "continue",
    as_json: Json = False,
    target: Targets = None,
    exclude: Excluded = None,
    refresh: RefreshMode = "changed",
    max_destroys: MaxDestroys = None,
    var: Variables = None,
    var_file: VariableFiles = None,
    parallelism: Parallelism = 10,
    detail: Detail = "changes",
    show_steps: ShowSteps = False,
) -> int:
    """Stop the jobs and forget all resources; tables and checkpoints are kept unless their on_destroy says otherwise."""
    request = _request(target, exclude, None, refresh, max_destroys, destroy=True)
    return _apply_fresh(request, var, var_file, parallelism, on_error, detail, show_steps, auto_approve=auto_approve, as_json=as_json)


def maintain(
    addresses: Annotated[list[str] | None, typer.Argument(help="Only these addresses or globs.", metavar="[ADDRESS]...")] = None,
    auto_approve: AutoApprove = False,
    on_error: OnError = "continue",
    as_json: Json = False,
    var: Variables = None,
    var_file: VariableFiles = None,
    parallelism: Parallelism = 10,
    detail: Detail = "changes",
    show_steps: ShowSteps = False,
) -> int:
    """Run the maintenance tasks that are due, and nothing else."""
    request = _request(addresses, None, None, "changed", None, destroy=False, maintenance="only")
    return _apply_fresh(request, var, var_file, parallelism, on_error, detail, show_steps, auto_approve=auto_approve, as_json=as_json)


def drift(
    as_json: Json = False,
    refresh: RefreshMode = "changed",
    var: Variables = None,
    var_file: VariableFiles = None,
    parallelism: Parallelism = 10,
) -> int:
    """Find what changed outside of FlareIaC. Reads only; exits with 3 when there is drift."""
    import flareiac
    from flareiac.app.drift import drift as find
    from flareiac.render.drift import drift_text
    from flareiac.render.ui_json import drift_lines

    bench = _bench(parallelism, var, var_file)
    try:
        report = find(bench, _request(None, None, None, refresh, None, destroy=False, maintenance="exclude"))
    finally:
        bench.close()
    if as_json:
        for line in drift_lines(report.drift, report.diagnostics, report.sources, tool_version=flareiac.__version__):
            terminal.out_json(line)
    else:
        terminal.complain(report.diagnostics, report.sources)
        if report.drift is not None:
            terminal.out(drift_text(report.drift, colour=terminal.colour(), errored=report.diagnostics.has_errors))
    if report.drift is None or report.diagnostics.has_errors:
        return ExitCode.ERROR
    return ExitCode.DRIFT if report.drift.drifted else ExitCode.DONE


def show(
    file: Annotated[str | None, typer.Argument(help="A saved plan; without one, the state.", metavar="[PLAN]")] = None,
    as_json: Json = False,
    detail: Detail = "changes",
    show_steps: ShowSteps = False,
) -> int:
    """Show a saved plan, or the state with the size of its tables."""
    import flareiac
    from flareiac.app.bench import Bench
    from flareiac.app.discovery import installed
    from flareiac.app.survey import surveys
    from flareiac.render.plan_json import plan_json
    from flareiac.render.state_text import show_json, state_text

    schemas = installed().registry.schemas
    if file is not None:
        loaded = _read_plan(file)
        if as_json:
            terminal.out(json.dumps(plan_json(loaded, tool_version=flareiac.__version__, schemas=schemas), separators=(",", ":")))
        else:
            terminal.out(_plan_text(loaded, detail=detail, show_steps=show_steps))
            terminal.complain(loaded.diagnostics)
        return ExitCode.DONE
    bench = Bench(root=terminal.CURRENT.root)
    try:
        snapshot = bench.load_state().snapshot
        found = surveys(bench, snapshot)
    finally:
        bench.close()
    if as_json:
        terminal.out(json.dumps(show_json(snapshot, schemas=schemas, surveys=found), indent=2))
    else:
        terminal.out(state_text(snapshot, schemas=schemas, surveys=found, now=time.time()))
    return ExitCode.DONE


def output(
    name: Annotated[str | None, typer.Argument(help="One output; without it, all.")] = None,
    as_json: Json = False,
    raw: Annotated[bool, typer.Option("--raw", help="Only the text of a string.")] = False,
) -> int:
    """Show the outputs of the last apply."""
    from flareiac.app.bench import Bench
    from flareiac.kernel.diagnostics import Failure, did_you_mean, error
    from flareiac.render.output_text import outputs_json, outputs_text

    outputs = Bench(root=terminal.CURRENT.root).load_state().snapshot.outputs
    if name is not None and name not in outputs:
        hint = f"{did_you_mean(name, outputs)} Outputs are recorded by apply; flareiac output lists them."
        raise Failure(error(codes.OUTPUT_NOT_FOUND, f'The state holds no output "{name}".{hint}'))
    if raw and name is None:
        raise typer.BadParameter("-raw needs the name of one output.")
    chosen = outputs if name is None else {name: outputs[name]}
    if raw and name is not None:
        value = outputs[name].value
        if not isinstance(value, str | int | float):
            why = "It is sensitive: the state does not hold it." if outputs[name].sensitive else f"Use flareiac output -json {name}."
            raise Failure(error(codes.OUTPUT_NOT_RAW, f'The output "{name}" cannot be printed with -raw. {why}'))
        terminal.out_as_is(json.dumps(value) if isinstance(value, bool) else str(value))
    elif as_json:
        whole = outputs_json(chosen)
        terminal.out(json.dumps(whole if name is None else whole[name]["value"], indent=2))
    else:
        terminal.out(outputs_text(chosen, bare=name is not None))
    return ExitCode.DONE


def _bench(parallelism: int, var: list[str] | None, var_file: list[str] | None) -> "Bench":
    from flareiac.app.bench import Bench, VariableArguments

    return Bench(
        root=terminal.CURRENT.root,
        parallelism=parallelism,
        variables=VariableArguments(items=_in_order(var or [], var_file or [])),
    )


def _in_order(var: list[str], var_file: list[str]) -> tuple[tuple[str, str], ...]:
    """Variables and variable files in the order they were typed, since the later one wins."""
    queues = {"--var": iter(var), "--var-file": iter(var_file)}
    kinds = {"--var": "var", "--var-file": "file"}
    typed = [item.partition("=")[0] for item in terminal.CURRENT.command_line]
    return tuple((kinds[name], text) for name in typed if name in queues and (text := next(queues[name], None)) is not None)


def _request(
    target: list[str] | None,
    exclude: list[str] | None,
    replace: list[str] | None,
    refresh: str,
    max_destroys: int | None,
    *,
    destroy: bool,
    maintenance: str = "include",
) -> "PlanRequest":
    from flareiac.app.plan import PlanRequest, Refresh
    from flareiac.planning.make_plan import Maintenance, Options

    named = {"true": "changed", "false": "none"}.get(refresh, refresh)
    if named not in [item.value for item in Refresh]:
        raise typer.BadParameter(f"-refresh={refresh}: it is full, changed, none, true or false.")
    if maintenance not in [item.value for item in Maintenance]:
        raise typer.BadParameter(f"-maintenance={maintenance}: it is include, only or exclude.")
    if Maintenance(maintenance) is Maintenance.ONLY and (destroy or replace):
        raise typer.BadParameter("-maintenance=only changes nothing else: it does not go with -destroy or -replace.")
    options = Options(
        targets=tuple(target or ()),
        exclude=tuple(exclude or ()),
        replace=frozenset(replace or ()),
        destroy=destroy,
        max_destroys=max_destroys,
        maintenance=Maintenance(maintenance),
    )
    return PlanRequest(options=options, refresh=Refresh(named))


def _save(made: "Plan", out: str | None, json_into: str | None, bench: "Bench") -> None:
    import flareiac
    from flareiac.kernel.diagnostics import Failure, error
    from flareiac.model.plan_file import encode_plan
    from flareiac.render.plan_json import plan_json

    files: dict[str, bytes] = {}
    if out:
        files[out] = encode_plan(made, tool_version=flareiac.__version__, root=str(bench.root))
    if json_into:
        files[json_into] = (
            json.dumps(plan_json(made, tool_version=flareiac.__version__, schemas=bench.installed.registry.schemas), indent=1).encode()
            + b"\n"
        )
    for name, content in files.items():
        try:
            _write_private(bench.root / name, content)
        except OSError as trouble:
            why = f"{name}: {trouble.strerror or trouble}. The plan was not saved; give another place, or make room there."
            raise Failure(error(codes.FILE_NOT_WRITTEN, why)) from trouble


def _write_private(path: Path, content: bytes) -> None:
    """All of the content or nothing, readable by its owner alone: a plan holds settings that are not for everybody."""
    if path.exists() and not path.is_file():
        path.write_bytes(content)  # a device or a pipe
        return
    target = path.resolve()
    beside = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        beside.replace(target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _show_plan(report: "PlanReport", *, as_json: bool, detail: str, show_steps: bool) -> None:
    import flareiac
    from flareiac.render.ui_json import plan_lines

    if as_json:
        for line in plan_lines(report.plan, report.diagnostics, report.sources, tool_version=flareiac.__version__):
            terminal.out_json(line)
        return
    if report.plan is not None:
        terminal.out(_plan_text(report.plan, detail=detail, show_steps=show_steps))
    terminal.complain(report.diagnostics, report.sources)


def _plan_text(made: "Plan", *, detail: str, show_steps: bool) -> str:
    from flareiac.app.discovery import installed
    from flareiac.render.plan_text import plan_text

    if detail not in ("summary", "changes", "full"):
        raise typer.BadParameter(f"-detail={detail}: it is summary, changes or full.")
    return plan_text(
        made,
        colour=terminal.colour(),
        width=terminal.width(),
        detail=detail,
        show_steps=show_steps,
        schemas=installed().registry.schemas,
    )


def _read_plan(file: str) -> "Plan":
    from flareiac.kernel.diagnostics import Failure, error
    from flareiac.model.plan_file import decode_plan
    from flareiac.sdk.state import Damaged

    path = Path(terminal.CURRENT.root / file)
    content = b""
    try:
        content = path.read_bytes()
        return decode_plan(content, file, str(terminal.CURRENT.root))
    except FileNotFoundError as trouble:
        why = f"{file}: {trouble.strerror}. flareiac plan -out={file} creates it."
        raise Failure(error(codes.PLAN_FILE_UNREADABLE, why)) from trouble
    except OSError as trouble:
        raise Failure(error(codes.PLAN_FILE_UNREADABLE, f"{file}: {trouble.strerror or trouble}.")) from trouble
    except Damaged as problem:
        raise Failure(error(codes.NOT_A_PLAN_FILE, f"{file}: {problem.why}. {_instead_of(file, content)}")) from problem


def _instead_of(file: str, content: bytes) -> str:
    """The way out for a file that is not a plan. Never to write over what may be something else."""
    from flareiac.config.files import SUFFIX

    if b'"kind": "flareiac-plan"' in content[:200]:
        return f"Make the plan again: flareiac plan -out={file}."
    if file.endswith((".tfvars", ".vars.hcl")):
        return f"It looks like a file of variables: flareiac apply -var-file={file}."
    if file.endswith(SUFFIX):
        return "It looks like configuration, which is read without being named: flareiac apply."
    return "Name a file that flareiac plan -out=... has written; without a name, apply makes a plan and asks."


def _conduct(
    *, parallelism: int, on_error: str, auto_approve: bool, as_json: bool, detail: str, show_steps: bool, saved: bool
) -> "Conduct":
    import flareiac
    from flareiac.app.apply import Conduct
    from flareiac.cli.run_command import CANCEL
    from flareiac.kernel.diagnostics import Failure
    from flareiac.model.events import Event
    from flareiac.render.apply_text import event_line
    from flareiac.render.ui_json import event_record, plan_lines

    if on_error not in ("continue", "stop"):
        raise typer.BadParameter(f"-on-error={on_error}: it is continue or stop.")
    timeout = lock_timeout()

    def emit(event: Event) -> None:
        # Whoever stops reading (a pager, a full log disk) must not stop an apply half-way.
        with contextlib.suppress(BrokenPipeError, Failure):
            tell(event)

    def tell(event: Event) -> None:
        if as_json:
            record = event_record(event)
            if record is not None:
                terminal.out_json(record)
        else:
            line = event_line(event, colour=terminal.colour())
            if line is not None:
                terminal.out(line)

    def approve(planned: "PlanReport") -> bool:
        assert planned.plan is not None, "only a whole plan is put to a person"
        if as_json:
            for line in plan_lines(planned.plan, planned.diagnostics, planned.sources, tool_version=flareiac.__version__):
                terminal.out_json(line)
        elif not saved:
            terminal.out(_plan_text(planned.plan, detail=detail, show_steps=show_steps))
            terminal.complain(planned.diagnostics, planned.sources)
        if auto_approve or saved or planned.plan.state_only:
            return True
        return terminal.ask("\nDo you want to perform these actions?")

    return Conduct(
        approve=approve,
        emit=emit,
        cancel=CANCEL,
        lock_timeout=timeout,
        parallelism=parallelism,
        stop_on_error=on_error == "stop",
    )


def _apply_fresh(
    request: "PlanRequest",
    var: list[str] | None,
    var_file: list[str] | None,
    parallelism: int,
    on_error: str,
    detail: str,
    show_steps: bool,
    *,
    auto_approve: bool,
    as_json: bool,
) -> int:
    from flareiac.app.apply import End, apply_fresh

    bench = _bench(parallelism, var, var_file)
    conduct = _conduct(
        parallelism=parallelism,
        on_error=on_error,
        auto_approve=auto_approve,
        as_json=as_json,
        detail=detail,
        show_steps=show_steps,
        saved=False,
    )
    try:
        report = apply_fresh(bench, request, conduct)
    finally:
        bench.close()
    if report.end in (End.INVALID, End.BLOCKED, End.NOTHING_TO_DO):
        _show_plan(report.planned, as_json=as_json, detail=detail, show_steps=show_steps)
    return _conclude(report, as_json=as_json)


def _apply_saved(file: str, parallelism: int, on_error: str, *, auto_approve: bool, as_json: bool) -> int:
    from flareiac.app.apply import End, apply_saved

    saved = _read_plan(file)
    bench = _bench(parallelism, None, None)
    conduct = _conduct(
        parallelism=parallelism,
        on_error=on_error,
        auto_approve=auto_approve,
        as_json=as_json,
        detail="changes",
        show_steps=False,
        saved=True,
    )
    try:
        report = apply_saved(bench, saved, conduct)
    finally:
        bench.close()
    if report.end in (End.INVALID, End.BLOCKED):
        _show_plan(report.planned, as_json=as_json, detail="changes", show_steps=False)
    return _conclude(report, as_json=as_json)


def _outputs_after(report: "ApplyReport") -> "Mapping[str, OutputValue]":
    if report.report.snapshot is not None:
        return report.report.snapshot.outputs
    assert report.planned.plan is not None, "an apply that has begun has a plan"
    changes = report.planned.plan.outputs
    found = {name: item.before if report.report.tally.failed else item.after for name, item in changes.items()}
    return {name: item for name, item in found.items() if item is not None}


def _conclude(report: "ApplyReport", *, as_json: bool) -> int:
    from flareiac.app.apply import End
    from flareiac.render.apply_text import apply_summary, cancelled_text, stale_diagnostic, stale_text
    from flareiac.render.ui_json import diagnostic_record, outputs_record, summary_record

    codes = {
        End.NOTHING_TO_DO: ExitCode.DONE,
        End.INVALID: ExitCode.ERROR,
        End.BLOCKED: ExitCode.BLOCKED,
        End.DECLINED: ExitCode.CANCELLED,
        End.STALE: ExitCode.STALE,
        End.DONE: ExitCode.DONE,
        End.PARTLY: ExitCode.PARTLY,
        End.FAILED: ExitCode.ERROR,
        End.CANCELLED: ExitCode.CANCELLED,
    }
    if report.end is End.STALE:
        rows = [(item.address, item.what, item.planned, item.now) for item in report.report.stale]
        if as_json:
            terminal.out_json(diagnostic_record(stale_diagnostic(rows), {}))
        else:
            terminal.say(stale_text(rows))
    if report.end not in (End.INVALID, End.BLOCKED):
        if as_json:
            for item in report.report.diagnostics:
                terminal.out_json(diagnostic_record(item, report.planned.sources))
        else:
            terminal.complain([item for item in report.report.diagnostics if not item.cancelled], report.planned.sources)
            if told := cancelled_text(report.report.diagnostics):
                terminal.say(told)
    tally = report.report.tally
    begun = bool(tally.done or tally.failed or tally.skipped) or report.end in (End.NOTHING_TO_DO, End.DONE)
    if report.planned.plan is not None and begun:
        done, failed, skipped = frozenset(tally.done), frozenset(tally.failed), frozenset(tally.skipped)
        if as_json:
            terminal.out_json(summary_record(report.planned.plan, done))
            terminal.out_json(outputs_record(_outputs_after(report)))
        elif report.end is not End.NOTHING_TO_DO:
            outputs = report.report.snapshot.outputs if report.report.snapshot else {}
            terminal.out(apply_summary(report.planned.plan, done, failed, skipped, outputs=outputs, colour=terminal.colour()))
    return codes[report.end]
