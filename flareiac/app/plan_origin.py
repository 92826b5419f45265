"""Collects the inputs of a plan beside the configuration that it holds: the place of the state, the inputs
from outside, and the versions. A saved plan is applied where all of that is the same. Touches the project's
files.
"""

import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import flareiac
from flareiac.app.state_place.selection import VARIABLE
from flareiac.app.workspace import Workspace
from flareiac.config.files import is_variable_file
from flareiac.config.variables import ENVIRONMENT_PREFIX
from flareiac.kernel import codes
from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac.model.plan import Plan, PlanOrigin

_LOCK: Final = ".flareiac.lock.hcl"
"""The file with the versions that ``init`` has chosen."""
_LOCAL: Final = "local files of the checkout"


def origin(workspace: Workspace, variables: Attributes) -> PlanOrigin:
    """The origin of a plan that is made now with these variables."""
    place = workspace.place
    return PlanOrigin(
        place=str(place) if place.is_shared else "",
        files=_files(workspace.root),
        environment=_environment(variables),
        versions={"flareiac": flareiac.__version__, **workspace.installed.versions},
    )


def check_origin(workspace: Workspace, saved: Plan) -> None:
    """Refuses a saved plan that was made with something else than there is here, and names it. Raises
    ``Failure``.
    """
    if saved.origin is None:
        return  # of a version that noted none
    now = origin(workspace, saved.variables)
    differences = [
        *_place(workspace, saved, saved.origin, now),
        *_versions(saved.origin, now),
        *_inputs(saved, saved.origin, now),
    ]
    if differences:
        raise Failure(*differences)


def _place(workspace: Workspace, saved: Plan, then: PlanOrigin, now: PlanOrigin) -> Iterator[Diagnostic]:
    if then.place != now.place:
        yield error(
            codes.PLAN_OF_ANOTHER_PLACE,
            f"It was made with the state in {then.place or _LOCAL}; here the state is in "
            f"{now.place or _LOCAL}. Nothing was done. Apply it in a checkout with the same backend, or "
            "make a new plan here.",
        )
    if saved.workspace != workspace.workspace:
        yield error(
            codes.PLAN_OF_ANOTHER_PLACE,
            f"It was made in the workspace {saved.workspace}; commands here work in {workspace.workspace}. "
            f"Nothing was done. Set {VARIABLE}={saved.workspace}, or make a new plan here.",
        )


def _versions(then: PlanOrigin, now: PlanOrigin) -> Iterator[Diagnostic]:
    for name in sorted(then.versions.keys() | now.versions.keys()):
        before, after = then.versions.get(name), now.versions.get(name)
        if before != after:
            yield error(
                codes.PLAN_OF_ANOTHER_VERSION,
                f"It was made with {name} {before or '(not installed)'}; here is {after or 'none'}. Nothing "
                "was done. Install the same version, or make a new plan here.",
            )


def _inputs(saved: Plan, then: PlanOrigin, now: PlanOrigin) -> Iterator[Diagnostic]:
    for name in sorted(then.files.keys() | now.files.keys()):
        before, after = then.files.get(name), now.files.get(name)
        if before == after or (name == _LOCK and None in (before, after)):
            continue
        what = "is not there" if after is None else "was not there" if before is None else "had other content"
        when = "here" if after is None else "when the plan was made"
        yield error(
            codes.PLAN_OF_OTHER_INPUTS,
            f"{name} {what} {when}. Nothing was done. Apply it with the files that it was made with, or make "
            "a new plan.",
        )
    for name, digest in now.environment.items():
        variable = f"{ENVIRONMENT_PREFIX}{name}"
        if digest != then.environment.get(name) and os.environ.get(variable) != _text(saved.variables[name]):
            yield error(
                codes.PLAN_OF_OTHER_INPUTS,
                f"{variable} gives the variable {name} another value than the plan was made with. Nothing "
                "was done. Unset it (the plan holds its values), or make a new plan.",
            )


def _files(root: Path) -> dict[str, str]:
    """The files beside the configuration that decide about a plan, with the digests of their contents."""
    digests: dict[str, str] = {}
    for path in sorted(root.iterdir()):
        if (is_variable_file(path.name) or path.name == _LOCK) and path.is_file():
            digests[path.name] = _digest(path.read_bytes())
    return digests


def _environment(variables: Attributes) -> dict[str, str]:
    """The digests of what the environment gives variables; of sensitive ones nothing is noted."""
    given: Mapping[str, str] = os.environ
    return {
        name: _digest(given[f"{ENVIRONMENT_PREFIX}{name}"].encode(errors="surrogateescape"))
        for name, value in sorted(variables.items())
        if value is not None and f"{ENVIRONMENT_PREFIX}{name}" in given
    }


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:32]


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
