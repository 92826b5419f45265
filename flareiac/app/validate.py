"""The use case of ``validate``: is the configuration right? Reads the project's files, and no system."""

from flareiac.app.workspace import Workspace
from flareiac.config.load import Configuration
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.model.conditions import Status
from flareiac.model.snapshot import Snapshot
from flareiac.planning.rival_writers import rivals
from flareiac.planning.usages import collect, conflicts


@dataclass(frozen=True, slots=True, kw_only=True)
class Validated:
    """A configuration and everything that is wrong with it."""

    configuration: Configuration
    diagnostics: Diagnostics


def validate(workspace: Workspace) -> Validated:
    """Evaluates the configuration without a state, and compares what its resources use."""
    diagnostics = Diagnostics()
    configuration = configuration_alone(workspace, diagnostics)
    desired = configuration.desired
    diagnostics.extend(
        each.problem
        for each in desired.conditions
        if each.problem is not None and each.status is not Status.UNKNOWN
    )
    if not diagnostics.has_errors:
        references = {address: resource.resolved() for address, resource in desired.resources.items()}
        usages = collect(desired, workspace.installed.registry.types, references)
        diagnostics.extend(conflicts(usages, desired))
        diagnostics.extend(rivals(usages, desired))
    return Validated(configuration=configuration, diagnostics=diagnostics)


def configuration_alone(workspace: Workspace, diagnostics: Diagnostics) -> Configuration:
    """The configuration as it is without a state and without any system."""
    configuration = workspace.load_configuration(
        Snapshot(lineage=""), diagnostics, data=lambda _question: None, partial=True
    )
    diagnostics.take_later()
    return configuration
