"""Records the shared place that this checkout used last, and what it saw there: ``.flareiac/backend.json``.
Touches that file.

It holds no secrets, for settings of backends are none. There is none while the state is in the checkout
itself.
"""

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Final

from flareiac.kernel import codes
from flareiac.kernel.data import read_json, write_json
from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac.kernel.durable_files import make_directory, remove_file, replace_file
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import decode, encode
from flareiac.model.damage import UNREADABLE, damage

FORMAT_VERSION: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class BackendRecord:
    """``settings`` are all that were used, ``given`` those of them that came from ``init -backend-config``;
    ``lineages`` by workspace: the states that were seen there.
    """

    kind: str
    settings: dict[str, str | bool] = field(default_factory=dict)
    given: dict[str, str | bool] = field(default_factory=dict)
    lineages: dict[str, str] = field(default_factory=dict)


def record_path(root: Path) -> Path:
    return root / ".flareiac" / "backend.json"


def read_record(root: Path) -> BackendRecord | None:
    """The record of a project, None where there is none. Raises ``Failure`` or ``OSError``."""
    path = record_path(root)
    try:
        document = read_json(path.read_bytes())
        version = document.pop("format_version")
        if version != FORMAT_VERSION:
            raise Failure(_unreadable(path, f"it has format version {version}, not {FORMAT_VERSION}"))
        return decode(BackendRecord, document, complete=True)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UNREADABLE as problem:
        raise Failure(_unreadable(path, damage(problem, "a record that FlareIaC wrote"))) from problem


def remove_record(root: Path) -> None:
    """Forgets the record. Raises ``OSError``."""
    remove_file(record_path(root))


def write_record(root: Path, record: BackendRecord) -> None:
    """Replaces the record. Raises ``OSError``."""
    path = record_path(root)
    make_directory(path.parent)
    document: Mapping[str, object] = {"format_version": FORMAT_VERSION, **encode(record)}
    replace_file(path, write_json(document, indent=2).encode() + b"\n")


def _unreadable(path: Path, why: str) -> Diagnostic:
    return error(
        codes.BACKEND_RECORD_UNREADABLE,
        f"{path}: {why}. It says which backend this checkout used last. Delete it, then run flareiac init.",
    )
