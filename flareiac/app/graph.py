"""The use case of ``graph``: a picture of the configuration. Reads the project's files, and no system."""

from collections.abc import Mapping

from flareiac.app.validate import configuration_alone
from flareiac.app.workspace import Workspace
from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Diagnostics, Failure, did_you_mean, error
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.sources import Source
from flareiac.model.picture import Picture
from flareiac.planning.make_plan import matches
from flareiac.planning.pictures import dependencies, focused, lineage


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphRequest:
    """``focus``: addresses or globs, none for everything. ``depth``: arrows away from these, None for all."""

    is_lineage: bool
    focus: tuple[str, ...] = ()
    depth: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """The picture (None when the configuration has errors), and all complaints."""

    picture: Picture | None
    diagnostics: Diagnostics
    sources: Mapping[str, Source]


def graph(workspace: Workspace, request: GraphRequest) -> Drawn:
    """Draws. Raises ``Failure`` for a focus that names nothing."""
    diagnostics = Diagnostics()
    configuration = configuration_alone(workspace, diagnostics)
    if diagnostics.has_errors:
        return Drawn(picture=None, diagnostics=diagnostics, sources=configuration.sources)
    desired = configuration.desired
    for pattern in request.focus:
        if not any(matches(address, pattern) for address in desired.resources):
            hint = did_you_mean(pattern, desired.resources)
            why = f'"{pattern}" is not the address of anything that is declared.{hint}'
            raise Failure(error(codes.NO_SUCH_RESOURCE, why))
    if request.is_lineage:
        references = {address: resource.resolved() for address, resource in desired.resources.items()}
        picture = lineage(desired, workspace.installed.registry.types, references)
    else:
        picture = dependencies(desired)
    if request.focus:
        picture = focused(picture, request.focus, request.depth)
    return Drawn(picture=picture, diagnostics=diagnostics, sources=configuration.sources)
