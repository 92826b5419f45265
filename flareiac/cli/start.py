"""``new``, ``init``, ``doctor``, ``version``: from nothing to a project that can be planned."""

import json
from typing import Annotated

import typer

from flareiac.cli import terminal
from flareiac.cli.exit_codes import ExitCode
from flareiac.cli.options import Json, VariableFiles, Variables

_PROJECT = """\
# A first project: a stream of made-up rows into an Iceberg table, on the embedded engine and catalog.

table "readings" {
  namespace = "demo"
  column "ts"    { type = "timestamptz" }
  column "value" { type = "long" }
  partition_by = [day("ts")]
}

stream "ticks" {
  rate { rows_per_second = 5 }
}

checkpoint "readings" {}

job "readings" {
  checkpoint = checkpoint.readings
  trigger    = { processing_time = "2s" }
  input "ticks" { stream = stream.ticks }
  step "read" {
    sql = "SELECT timestamp AS ts, value FROM ticks"
  }
  output "readings" { table = table.readings }
}
"""


def register(app: typer.Typer) -> None:
    """Adds these commands to the tree."""
    app.command()(new)
    app.command()(init)
    app.command()(doctor)
    app.command()(version)


def new(directory: Annotated[str, typer.Argument(help="Where to put it.")] = ".") -> int:
    """Write a small project that can be applied as it stands."""
    root = terminal.CURRENT.root / directory
    target = root / "main.flare.hcl"
    if root.is_dir() and any(item.name.endswith(".flare.hcl") for item in root.iterdir()):
        terminal.say(f"Error: {root} holds a project already. Give the name of a new directory.")
        return ExitCode.ERROR
    try:
        root.mkdir(parents=True, exist_ok=True)
        target.write_text(_PROJECT, encoding="utf-8")
    except OSError as trouble:
        terminal.say(f"Error: {target} cannot be written: {trouble.strerror}.")
        return ExitCode.ERROR
    where = "" if root == terminal.CURRENT.root else f" -chdir={directory}"
    terminal.out(f"Wrote {target}.\nNext: flareiac{where} init, then plan and apply.")
    return ExitCode.DONE


def init(var: Variables = None, var_file: VariableFiles = None) -> int:
    """Download the jars that the project needs, and write the lock file."""
    from flareiac.app.environment import declared, initialise
    from flareiac.cli.core import _bench as bench_for
    from flareiac.kernel.diagnostics import Diagnostics

    bench = bench_for(10, var, var_file)
    diagnostics = Diagnostics()
    configuration, references = declared(bench, diagnostics)
    terminal.complain(diagnostics, configuration.sources)
    if diagnostics.has_errors:
        return ExitCode.ERROR
    for line in initialise(bench, references, terminal.say):
        terminal.out(line)
    terminal.out("FlareIaC is initialised here.")
    return ExitCode.DONE


def doctor(as_json: Json = False, var: Variables = None, var_file: VariableFiles = None) -> int:
    """Examine Java, jars, catalogs, engines and the state; each with a verdict and a fix."""
    from flareiac.app.environment import declared, examine
    from flareiac.cli.core import _bench as bench_for
    from flareiac.kernel.diagnostics import Diagnostics
    from flareiac.render.diagnostics import as_json as complaints
    from flareiac.sdk.capabilities import Verdict

    bench = bench_for(10, var, var_file)
    diagnostics = Diagnostics()
    configuration, references = declared(bench, diagnostics)
    checks = examine(bench, references, diagnostics)
    if as_json:
        rows = [{"name": item.name, "verdict": item.verdict.value, "text": item.text, "fix": item.fix} for item in checks]
        found = {"format_version": "1.0", "checks": rows, "diagnostics": complaints(diagnostics, configuration.sources)}
        terminal.out(json.dumps(found, indent=2))
    else:
        terminal.complain(diagnostics, configuration.sources)
        for item in checks:
            terminal.out(f"{item.verdict.value:<5} {item.name}: {item.text}" + (f"\n      fix: {item.fix}" if item.fix else ""))
    bad = diagnostics.has_errors or any(item.verdict is Verdict.FAIL for item in checks)
    return ExitCode.ERROR if bad else ExitCode.DONE


def version(as_json: Json = False) -> int:
    """Print the version."""
    import flareiac

    if as_json:
        from flareiac.app.discovery import installed

        terminal.out(json.dumps({"flareiac_version": flareiac.__version__, "providers": sorted(installed().providers)}, indent=2))
    else:
        terminal.out(f"FlareIaC v{flareiac.__version__}")
    return ExitCode.DONE
