"""The use case of ``lineage``: what the configuration declares for programs that collect lineage. Reads the
project's files, and no system.
"""

from collections.abc import Mapping

from flareiac.app.validate import configuration_alone
from flareiac.app.workspace import Workspace
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.sources import Source
from flareiac.model.lineage import DeclaredLineage
from flareiac.planning.lineage import declared_lineage


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """The lineage (None when the configuration has errors), and all complaints."""

    lineage: DeclaredLineage | None
    diagnostics: Diagnostics
    sources: Mapping[str, Source]


def lineage(workspace: Workspace) -> Declared:
    """Collects what is declared."""
    diagnostics = Diagnostics()
    configuration = configuration_alone(workspace, diagnostics)
    if diagnostics.has_errors:
        return Declared(lineage=None, diagnostics=diagnostics, sources=configuration.sources)
    desired = configuration.desired
    references = {address: resource.resolved() for address, resource in desired.resources.items()}
    types = workspace.installed.registry.types
    declared = declared_lineage(desired, types, references, workspace.project)
    return Declared(lineage=declared, diagnostics=diagnostics, sources=configuration.sources)
