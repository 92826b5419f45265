"""Lists the files of a module, and reads their texts. Touches the file system."""

import stat
from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path

from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.sources import Source, Span

SUFFIX = ".flare.hcl"
JSON = ".json"
"""The ending of a file in HCL's JSON syntax, behind the ending that it has in native syntax."""
VARIABLE_FILES = ("flareiac.vars.hcl", f"flareiac.vars.hcl{JSON}")
_AUTO = ".auto.vars.hcl"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleFiles:
    """The texts of one directory: configuration, and the variable files that are read without being asked
    for.
    """

    configuration: tuple[Source, ...]
    variables: tuple[Source, ...]
    sources: dict[str, Source] = field(default_factory=dict)


def read_module(root: Path, diagnostics: Diagnostics) -> ModuleFiles:
    """Every ``*.flare.hcl`` of a directory, and its ``flareiac.vars.hcl`` and ``*.auto.vars.hcl``, by name;
    with ``.json`` behind it, too.
    """
    if not root.is_dir():
        diagnostics.error(
            codes.NO_SUCH_DIRECTORY,
            f"{root} does not exist or is not a directory. Give the directory of a project with -chdir, or "
            "create one: flareiac new.",
        )
        return ModuleFiles(configuration=(), variables=())
    names = _names(root, diagnostics)
    configuration = [
        source
        for name in names
        if is_configuration(name) and (source := read(root / name, name, diagnostics))
    ]
    wanted = sorted(filter(is_variable_file, names), key=lambda name: name not in VARIABLE_FILES)
    variables = [source for name in wanted if (source := read(root / name, name, diagnostics))]
    for name in names:
        if meant := _meant(name):
            diagnostics.warning(
                codes.FILE_NOT_READ,
                f"{name} is left out. {meant} Rename it, or move it out of this directory.",
            )
    if not configuration and not diagnostics.has_errors:
        diagnostics.error(
            codes.NO_CONFIGURATION,
            f"{root} holds no file whose name ends in {SUFFIX} or {SUFFIX}{JSON}. Change to the directory of "
            "a project, or make one: flareiac new.",
        )
    return ModuleFiles(
        configuration=tuple(configuration),
        variables=tuple(variables),
        sources={file.path: file for file in (*configuration, *variables)},
    )


def read_called_module(
    root: Path, directory: str, caller: Span, diagnostics: Diagnostics
) -> ModuleFiles | None:
    """Every ``*.flare.hcl`` of a directory that a module block calls; None where there is none. The names of
    files begin with the directory, which is relative to the root module.
    """
    place = root / directory
    if not place.is_dir():
        why = (
            f"{directory} does not exist or is not a directory. A path is relative to the file it stands in."
        )
        diagnostics.error(codes.NO_SUCH_DIRECTORY, why, subject=caller)
        return None
    names = [f"{directory}/{name}" for name in _names(place, diagnostics) if is_configuration(name)]
    if not names:
        why = f"{directory} holds no file whose name ends in {SUFFIX}, so that it is no module."
        diagnostics.error(codes.NO_CONFIGURATION, why, subject=caller)
        return None
    configuration = [source for name in names if (source := read(root / name, name, diagnostics))]
    return ModuleFiles(
        configuration=tuple(configuration), variables=(), sources={file.path: file for file in configuration}
    )


def with_texts(files: ModuleFiles, texts: Mapping[str, str]) -> ModuleFiles:
    """The files of a module, with other texts of its configuration by name."""
    if not texts:
        return files
    configuration = tuple(
        replace(source, text=texts.get(source.path, source.text)) for source in files.configuration
    )
    sources = {**files.sources, **{source.path: source for source in configuration}}
    return replace(files, configuration=configuration, sources=sources)


def is_configuration(name: str) -> bool:
    """Returns True where a file of a module's directory is read as configuration. A name that begins with a
    dot is an editor's (Emacs: ``.#NAME``) or an operating system's (macOS: ``._NAME``).
    """
    return name.removesuffix(JSON).endswith(SUFFIX) and not name.startswith(".")


def is_override(name: str) -> bool:
    """Returns True if a file of configuration is merged into the others (``config.overrides``)."""
    stem = Path(name).name.removesuffix(".json").removesuffix(SUFFIX)
    return stem == "override" or stem.endswith("_override")


def is_variable_file(name: str) -> bool:
    """Returns True if a file is read as variables without being asked for."""
    is_automatic = name.removesuffix(JSON).endswith(_AUTO) and not name.startswith(".")
    return name in VARIABLE_FILES or is_automatic


def _meant(name: str) -> str | None:
    """Returns the reason why a file that looks like configuration is left out, or None."""
    lower = name.lower()
    if name.startswith((".#", "._")):
        return None
    if name.startswith("."):
        hidden = lower.removesuffix(JSON).endswith((SUFFIX, _AUTO))
        return "A file whose name begins with a dot is not read." if hidden else None
    if lower.removesuffix(JSON).endswith((".flare", SUFFIX)) and not is_configuration(name):
        return f"Only files whose names end in {SUFFIX} or {SUFFIX}{JSON} are configuration."
    if lower.endswith((".vars.json", ".auto.vars")) or (
        lower.removesuffix(JSON).endswith((_AUTO, VARIABLE_FILES[0])) and name != lower
    ):
        return (
            "Only flareiac.vars.hcl and files whose names end in .auto.vars.hcl are read as variables "
            "without being asked for; each may have .json behind it."
        )
    return None


def _names(root: Path, diagnostics: Diagnostics) -> list[str]:
    """The files of a directory; a link that leads nowhere is one of them, for what it should hold must not be
    taken for removed.
    """
    try:
        return sorted(entry.name for entry in root.iterdir() if entry.is_symlink() or entry.is_file())
    except OSError as problem:
        diagnostics.error(codes.FILE_UNREADABLE, f"{root}: {problem.strerror or problem}.")
        return []


def read(path: Path, name: str, diagnostics: Diagnostics, *, pipes: bool = False) -> Source | None:
    """One file's text, or None with a complaint. A device may have no end, and a pipe (``pipes``) is read
    only where it was asked for.
    """
    try:
        mode = path.stat().st_mode
        if not (stat.S_ISREG(mode) or (pipes and stat.S_ISFIFO(mode))):
            what = "a directory" if path.is_dir() else "a device, a pipe or a socket"
            diagnostics.error(codes.NOT_A_PLAIN_FILE, f"{name} is {what}; a regular file is expected.")
            return None
        return Source(name, path.read_bytes().decode("utf-8-sig"))
    except UnicodeDecodeError as problem:
        diagnostics.error(
            codes.NOT_UTF8, f"{name}: the byte at offset {problem.start} does not belong to any character."
        )
    except OSError as problem:
        diagnostics.error(codes.FILE_UNREADABLE, f"{name}: {problem.strerror or problem}.")
    return None
