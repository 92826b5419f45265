"""``import``: HCL for what is there. Writes one file or the terminal; plan and apply do the rest."""

from pathlib import Path
from typing import Annotated

import typer

from flareiac.app.importing import Imported, import_many, import_one
from flareiac.cli.complaints import complain
from flareiac.cli.exit_codes import ExitCode
from flareiac.cli.invocation import Invocation
from flareiac.cli.options import VariableOptions
from flareiac.cli.project import opened
from flareiac.cli.terminal import Terminal
from flareiac.config.files import SUFFIX, is_configuration
from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Failure, error
from flareiac.lang.json_text import is_json
from flareiac.render.control_characters import printable
from flareiac.render.hcl_text import file_text

Address = Annotated[str | None, typer.Argument(help="The address that it gets.", metavar="[ADDRESS]")]
ImportId = Annotated[
    str | None, typer.Argument(help="The import id, such as lake.sales.orders.", metavar="[ID]")
]
FromCatalog = Annotated[
    str | None,
    typer.Option("--from-catalog", help="Tables by pattern: CATALOG.NAMESPACE.*, or CATALOG.*.* for all."),
]
Out = Annotated[str | None, typer.Option("--out", help="Write a new file; without it, to the terminal.")]


def import_(
    invocation: Invocation,
    *,
    address: Address = None,
    object_id: ImportId = None,
    from_catalog: FromCatalog = None,
    out: Out = None,
    variables: VariableOptions,
) -> int:
    """Imports one thing by its id, or tables by pattern."""
    if (from_catalog is None) == (address is None) or (address is None) != (object_id is None):
        why = "Write flareiac import ADDRESS ID, or flareiac import -from-catalog=CATALOG.NAMESPACE.*"
        raise typer.BadParameter(why)
    target = None if out is None else _new_file(invocation.root, out)
    with opened(invocation, variables) as workspace:
        if from_catalog is not None:
            imported = import_many(workspace, from_catalog)
        else:
            assert address is not None, "checked above"
            assert object_id is not None, "checked above"
            imported = import_one(workspace, address, object_id)
    if imported.diagnostics.has_errors:
        complain(invocation.terminal, imported.diagnostics, imported.sources)
        return ExitCode.ERROR
    return _hand_out(invocation.terminal, imported, target)


def _new_file(root: Path, out: str) -> Path:
    """The file to write. Raises ``Failure`` where something is there, or where no plan would read it."""
    path = root / out
    if not is_configuration(Path(out).name) or is_json(out):
        read = f"Configuration is read from files whose names end in {SUFFIX}."
        why = "import writes native syntax, and no JSON." if is_json(out) else read
        way_out = f"Write for example -out=imported{SUFFIX}."
        raise Failure(error(codes.FILE_WOULD_NOT_BE_READ, f"{out} is not such a name. {why} {way_out}"))
    if path.exists() or path.is_symlink():
        way_out = "Choose another name, or move the file away first."
        raise Failure(
            error(codes.FILE_EXISTS, f"{out} exists, and import never overwrites a file. {way_out}")
        )
    return path


def _hand_out(terminal: Terminal, imported: Imported, target: Path | None) -> int:
    notes = tuple(f"Left out: {entry.id}: {entry.why}" for entry in imported.left_out if not entry.declared)
    declared = [entry for entry in imported.left_out if entry.declared]
    for entry in declared:
        terminal.say(printable(f"{entry.id}: {entry.why}; nothing to do."))
    for note in notes:
        terminal.say(printable(f"Warning: {note}"))
    if not imported.blocks:
        terminal.say("Nothing to import.")
        return ExitCode.DONE if declared else ExitCode.ERROR
    content = file_text(imported.blocks, notes=notes)
    if target is None:
        terminal.out(content.rstrip("\n"))
        return ExitCode.DONE
    try:
        with target.open("x", encoding="utf-8") as stream:
            stream.write(content)
    except OSError as failure:
        raise Failure(
            error(codes.FILE_NOT_WRITTEN, f"{target.name}: {failure.strerror or failure}.")
        ) from failure
    count = len(imported.addresses)
    imports = f"{count} import{'' if count == 1 else 's'}"
    following = "Next: flareiac plan shows them, flareiac apply adopts them."
    terminal.out(f"Wrote {imports} to {target.name}. {following}")
    return ExitCode.DONE
