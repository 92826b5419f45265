"""The use cases of ``init`` and ``doctor``: what the declared systems need, fetched or examined. Touches the
providers.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from flareiac.app.workspace import Workspace
from flareiac.config.load import Configuration
from flareiac.kernel.diagnostics import Diagnostics, Failure, Severity
from flareiac.model.snapshot import Snapshot
from flareiac.sdk.capabilities import Check, Diagnosing, Initialising, Verdict
from flareiac.sdk.provider import Session
from flareiac.sdk.references import Resolved


def declared(workspace: Workspace, diagnostics: Diagnostics) -> tuple[Configuration, Mapping[str, Resolved]]:
    """Everything the project declares, for providers to look through."""
    configuration = workspace.load_configuration(Snapshot(lineage=""), diagnostics)
    return configuration, {
        address: resource.resolved() for address, resource in configuration.desired.resources.items()
    }


def initialise(
    workspace: Workspace,
    references: Mapping[str, Resolved],
    progress: Callable[[str], None],
    diagnostics: Diagnostics,
    *,
    upgrade: bool,
) -> list[str]:
    """Lets every provider fetch what it needs, in the versions that are locked unless ``upgrade`` is true;
    their warnings are added to ``diagnostics``. Raises ``Failure``.
    """
    lines: list[str] = []
    for session in _sessions(workspace):
        if isinstance(session, Initialising):
            lines.extend(session.initialise(references, progress, diagnostics, upgrade=upgrade))
    return lines


def examine(
    workspace: Workspace, references: Mapping[str, Resolved], diagnostics: Diagnostics
) -> list[Check]:
    """The verdicts of every provider, and of the state. What the configuration has wrong is not examined: it
    has been said already.
    """
    wrong = {diagnostic.address for diagnostic in diagnostics if diagnostic.severity is Severity.ERROR}
    references = {address: reference for address, reference in references.items() if address not in wrong}
    return [_examine_state(workspace), *_examine_all(workspace, references)]


def examine_machine(workspace: Workspace) -> list[Check]:
    """The verdicts of every provider where there is no project. What is missing is a warning: the first
    project may do without it.
    """
    text = f"{workspace.root} holds none, of which state and declarations would be examined"
    checks = [Check(name="project", verdict=Verdict.OK, text=text)]
    for check in _examine_all(workspace, {}):
        verdict = Verdict.WARN if check.verdict is Verdict.FAIL else check.verdict
        checks.append(replace(check, verdict=verdict))
    return checks


def _examine_all(workspace: Workspace, references: Mapping[str, Resolved]) -> list[Check]:
    checks: list[Check] = []
    for session in _sessions(workspace):
        if isinstance(session, Diagnosing):
            checks.extend(session.checks(references))
    return checks


def _examine_state(workspace: Workspace) -> Check:
    try:
        loaded = workspace.load_state()
    except Failure as failure:
        diagnostic = failure.diagnostics[0]
        return Check(name="state", verdict=Verdict.FAIL, text=diagnostic.summary, fix=diagnostic.detail)
    count = len(loaded.snapshot.resources)
    return Check(
        name="state",
        verdict=Verdict.OK,
        text=(
            f"{workspace.place}, workspace {workspace.workspace}: serial {loaded.snapshot.serial}, {count} "
            "resources"
        ),
    )


def _sessions(workspace: Workspace) -> Sequence[Session]:
    return [provider.open(workspace.project) for provider in workspace.installed.providers.values()]
