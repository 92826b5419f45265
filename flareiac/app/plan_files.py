"""Plans as files: written whole and private, read with a way out for what is not a plan. Touches files."""

from collections.abc import Mapping
from pathlib import Path

import flareiac
from flareiac.app.discovery import installed
from flareiac.app.state_place.place import project_cipher
from flareiac.config.files import JSON, SUFFIX
from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Failure, error
from flareiac.kernel.durable_files import replace_file
from flareiac.model.plan import Plan
from flareiac.model.plan_file import KIND, decode_plan, encode_plan
from flareiac.model.upgrades import upgraded_plan
from flareiac.sdk.state import Damaged
from flareiac.state.cipher import Purpose
from flareiac.state.envelope import is_encrypted


def plan_content(plan: Plan, root: Path) -> bytes:
    """The content of the file that holds a plan of the project in ``root``, encrypted where its state is.
    Raises ``Failure``.
    """
    content = encode_plan(plan, tool_version=flareiac.__version__, root=str(root))
    return project_cipher(root).seal(content, Purpose.PLAN)


def write_plan_files(root: Path, files: Mapping[str, bytes]) -> None:
    """Writes contents by file name, relative to the project. Raises ``Failure``."""
    for name, content in files.items():
        try:
            _write_private(root / name, content)
        except OSError as problem:
            way_out = "The plan was not saved; give another place, or make room there."
            why = f"{name}: {problem.strerror or problem}. {way_out}"
            raise Failure(error(codes.FILE_NOT_WRITTEN, why)) from problem


def read_plan(root: Path, file: str) -> Plan:
    """The plan in a file, relative to the project, with every resource in the version of its installed type.
    Raises ``Failure``.
    """
    head = b""
    try:
        content = (root / file).read_bytes()
        head = content[:200]
        opened = project_cipher(root).open(content, Purpose.PLAN, file)
        del content  # large, as is each form of it: none is kept while the next one is read
        text = [opened.decode("utf-8", "replace")]
        del opened
        return upgraded_plan(decode_plan(text.pop(), file, str(root)), installed().registry.types, file)
    except FileNotFoundError as problem:
        why = f"{file}: {problem.strerror}. flareiac plan -out={file} creates it."
        raise Failure(error(codes.PLAN_FILE_UNREADABLE, why)) from problem
    except OSError as problem:
        raise Failure(
            error(codes.PLAN_FILE_UNREADABLE, f"{file}: {problem.strerror or problem}.")
        ) from problem
    except Damaged as problem:
        why = f"{file}: {problem.why}. {problem.way_out or _instead_of(file, head)}"
        raise Failure(error(codes.NOT_A_PLAN_FILE, why)) from problem


def _write_private(path: Path, content: bytes) -> None:
    """Writes all of the content or nothing, readable by its owner alone: settings in it may be secret."""
    if path.exists() and not path.is_file():
        path.write_bytes(content)  # a device or a pipe
        return
    replace_file(path.resolve(), content, durable=False)


def _instead_of(file: str, head: bytes) -> str:
    """The way out for a file that is not a plan: never to write over what may be something else."""
    if KIND.encode() in head or is_encrypted(head):
        return f"Make the plan again: flareiac plan -out={file}."
    if file.removesuffix(JSON).endswith((".tfvars", ".vars.hcl")):
        return f"It looks like a file of variables: flareiac apply -var-file={file}."
    if file.removesuffix(JSON).endswith(SUFFIX):
        return "It looks like configuration, which is read without being named: flareiac apply."
    return "Name a file that flareiac plan -out=... has written; without a name, apply makes a plan and asks."
