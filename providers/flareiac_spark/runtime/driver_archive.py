"""The driver as files that travel: an archive of modules for ``--py-files``, and the file that starts it.

The archive holds the package beside Spark, those modules of the core that it imports, the packages of the
table tasks and of the secret stores that are installed here, and the metadata by which these are listed as if
they were installed there. Equal contents make equal bytes. Reads the installed packages; never imports one.
"""

import importlib.metadata
import importlib.util
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Final

import flareiac
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk import secrets, table_tasks
from flareiac_spark_runtime.control.code_archive import code_digest, packed

_RUNTIME: Final = "flareiac_spark_runtime"
SHARED: Final = (
    "flareiac",
    "flareiac.kernel",
    "flareiac.kernel.codes",
    "flareiac.kernel.column_types",
    "flareiac.kernel.data",
    "flareiac.kernel.diagnostics",
    "flareiac.kernel.durable_files",
    "flareiac.kernel.host",
    "flareiac.kernel.kill_points",
    "flareiac.kernel.lazy_dataclass",
    "flareiac.kernel.numbers",
    "flareiac.kernel.paths",
    "flareiac.kernel.records",
    "flareiac.kernel.secret_masks",
    "flareiac.kernel.signals",
    "flareiac.kernel.sources",
    "flareiac.kernel.type_names",
    "flareiac.kernel.user_cache",
    "flareiac.sdk",
    "flareiac.sdk.dataset_names",
    "flareiac.sdk.http_client",
    "flareiac.sdk.lineage",
    "flareiac.sdk.name_patterns",
    "flareiac.sdk.openlineage",
    "flareiac.sdk.plug_ins",
    "flareiac.sdk.secrets",
    "flareiac.sdk.table_tasks",
)
"""The modules of the core that the driver and the performers of table tasks import, directly or not."""
_GROUPS: Final = (secrets.GROUP, table_tasks.GROUP)
"""The groups of entry points that are asked for beside Spark."""
_KINDS: Final = ("*.py", "*.java")
"""Files that travel: modules, and the source that Spark's JVM compiles."""
_ENTRY: Final = "flareiac_spark_runtime/submitted.py"


@dataclass(frozen=True, kw_only=True)
class DriverArchive:
    """``modules``: contents by name inside the archive."""

    modules: Mapping[str, bytes]

    @cached_property
    def digest(self) -> str:
        """Names the contents."""
        return code_digest(self.modules)

    @cached_property
    def content(self) -> bytes:
        """The archive as a file."""
        return packed(self.modules)

    @property
    def entry(self) -> bytes:
        """The file that starts the driver."""
        return self.modules[_ENTRY]


def driver_archive() -> DriverArchive:
    """That of the packages that are installed here."""
    core = Path(flareiac.__file__).parent.parent
    modules = {path.relative_to(core).as_posix(): path.read_bytes() for path in map(_file_of_core, SHARED)}
    runtime = _folder_of(_RUNTIME)
    modules |= _below(runtime.parent, runtime) if runtime is not None else {}
    for distribution, groups in _plug_ins().items():
        values = {value for entries in groups.values() for value in entries.values()}
        for package in sorted({value.partition(":")[0].partition(".")[0] for value in values}):
            root = _folder_of(package)
            if root is not None and package not in ("flareiac", _RUNTIME):
                modules |= _below(root.parent, root)
        modules |= _metadata(distribution, groups)
    return DriverArchive(modules=dict(sorted(modules.items())))


def _file_of_core(module: str) -> Path:
    """The file of a module of ``flareiac``."""
    place = Path(flareiac.__file__).parent.joinpath(*module.split(".")[1:])
    return place / "__init__.py" if place.is_dir() else place.with_suffix(".py")


def _folder_of(package: str) -> Path | None:
    """The folder of a package, or the file of a module; None for one that is no file."""
    spec = importlib.util.find_spec(package)
    if spec is None:
        return None
    if spec.submodule_search_locations:
        return Path(next(iter(spec.submodule_search_locations)))
    return Path(spec.origin) if spec.origin else None


def _below(root: Path, place: Path) -> dict[str, bytes]:
    files = [place] if place.is_file() else sorted(path for kind in _KINDS for path in place.rglob(kind))
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in files}


def _plug_ins() -> dict[tuple[str, str], dict[str, dict[str, str]]]:
    """Entry points by the name and version of the package that declares them, and by their group."""
    plug_ins: dict[tuple[str, str], dict[str, dict[str, str]]] = {}
    for group in _GROUPS:
        for entry in importlib.metadata.entry_points(group=group):
            if entry.dist is not None:
                groups = plug_ins.setdefault((entry.dist.name, entry.dist.version), {})
                groups.setdefault(group, {})[entry.name] = entry.value
    return dict(sorted(plug_ins.items()))


def _metadata(
    distribution: tuple[str, str], groups: Mapping[str, Mapping[str, str]]
) -> Iterator[tuple[str, bytes]]:
    """The files that ``importlib.metadata`` reads of an installed package."""
    name, version = distribution
    folder = f"{name.replace('-', '_')}-{version}.dist-info"
    declared = "".join(
        f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in sorted(entries.items()))
        for group, entries in groups.items()
    )
    yield f"{folder}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode()
    yield f"{folder}/entry_points.txt", declared.encode()
