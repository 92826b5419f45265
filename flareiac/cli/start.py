"""``new``, ``init``, ``doctor``, ``version``: from nothing to a project that can be planned."""

import json
from typing import Annotated

import typer

from flareiac.cli import terminal
from flareiac.cli.exit_codes import ExitCode
from flareiac.cli.options import Json

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
        terminal.say(f"Error: {target} can not be written: {trouble.strerror}.")
        return ExitCode.ERROR
    where = "" if root == terminal.CURRENT.root else f" -chdir={directory}"
    terminal.out(f"Wrote {target}.\nNext: flareiac{where} init, then plan and apply.")
    return ExitCode.DONE


def init() -> int:
    """Download the jars that the project needs, and write the lock file."""
    from flareiac.app.bench import Bench
    from flareiac.app.environment import declared, initialise
    from flareiac.kernel.diagnostics import Diagnostics

    bench = Bench(root=terminal.CURRENT.root)
    diagnostics = Diagnostics()
    configuration, references = declared(bench, diagnostics)
    terminal.complain(diagnostics, configuration.sources)
    if diagnostics.has_errors:
        return ExitCode.ERROR
    for line in initialise(bench, references, terminal.say):
        terminal.out(line)
    terminal.out("FlareIaC is initialised here.")
    return ExitCode.DONE


def doctor(as_json: Json = False) -> int:
    """Examine Java, jars, catalogs, engines and the state; each with a verdict and a fix."""
    from flareiac.app.bench import Bench
    from flareiac.app.environment import declared, examine
    from flareiac.kernel.diagnostics import Diagnostics
    from flareiac.sdk.provider import Verdict

    bench = Bench(root=terminal.CURRENT.root)
    diagnostics = Diagnostics()
    configuration, references = declared(bench, diagnostics)
    if diagnostics.has_errors:
        terminal.complain(diagnostics, configuration.sources)
    checks = examine(bench, references)
    if as_json:
        rows = [{"name": item.name, "verdict": item.verdict.value, "text": item.text, "fix": item.fix} for item in checks]
        terminal.out(json.dumps({"format_version": "1.0", "checks": rows}, indent=2))
    else:
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
