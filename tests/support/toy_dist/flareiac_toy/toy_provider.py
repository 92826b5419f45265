"""The toy provider: its types, and its session."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from flareiac.kernel.codes import NO_CODES, CodeTable
from flareiac.kernel.diagnostics import Diagnostic, Failure, error, warning
from flareiac.kernel.kill_points import reach
from flareiac.kernel.types import STRING
from flareiac.sdk.driver import Driver
from flareiac.sdk.maintenance import PerformRequest
from flareiac.sdk.project import Project
from flareiac.sdk.provider import Function, Offered
from flareiac.sdk.references import References, Resolved
from flareiac.sdk.resource_type import Kind, ResourceType
from flareiac.sdk.schema import Attribute, Block
from flareiac.sdk.table_tasks import Performed
from flareiac.sdk.type_roles import Maintaining, Planning, Relations
from flareiac_toy.thing import (
    BROOM_BROKEN,
    BROOM_LOUD,
    SCHEMA,
    SHEET,
    ThingDriver,
    ThingMaintainer,
    ThingPlanner,
    canonical,
    dust_on,
    holds,
    usages,
)


@dataclass(frozen=True, slots=True)
class ToySession:
    """An open toy world."""

    root: Path

    def driver(self, type_name: str) -> Driver:
        return ThingDriver(self.root)

    def perform(self, request: PerformRequest) -> Performed:
        """Takes the dust away; a worn broom takes none, a broken one fails."""
        assert request.work.kind == "sweep"
        strength = request.performer.attributes.get("strength") or "good"
        if strength == "broken":
            raise Failure(error(BROOM_BROKEN, "Declare another."))
        path = self.root / ".toy" / f"{request.subject.attributes['name']}.dust"
        dust = dust_on(self.root, request.subject.attributes["name"])
        reach("toy.before-sweep")
        if strength == "good":
            path.write_text("0")
        result = {"swept": dust if strength == "good" else 0}
        answer = self.root / ".toy" / f"{request.subject.attributes['name']}.answer"
        answer.write_text(json.dumps([request.key, result]))
        reach("toy.after-sweep")
        answer.unlink()
        return Performed(result=result)

    def disturbed(self, address: str, performer: Resolved, references: References) -> Sequence[Diagnostic]:
        """A loud broom is heard."""
        assert performer.address in references
        loud = performer.attributes.get("strength") == "loud"
        return (warning(BROOM_LOUD, f"{address} is swept.", address=address),) if loud else ()

    def outcome(self, request: PerformRequest) -> Performed | None:
        """The answer that was not taken."""
        answer = self.root / ".toy" / f"{request.subject.attributes['name']}.answer"
        key, result = json.loads(answer.read_text()) if answer.exists() else ("", {})
        return Performed(result=result, found=True) if key == request.key else None

    def close(self) -> None:
        pass


def _thing() -> ResourceType:
    return ResourceType(
        name="thing",
        kind=Kind.MANAGED,
        schema=SCHEMA,
        description="A file.",
        canonical=canonical,
        computed={"id": STRING},
        planning=Planning(planner=ThingPlanner),
        relations=Relations(usages=usages, holds=holds),
        maintaining=Maintaining(maintainer=ThingMaintainer, sheet=SHEET),
    )


def _broom() -> ResourceType:
    return ResourceType(
        name="broom",
        kind=Kind.CONNECTION,
        schema=Block(attributes={"strength": Attribute(type=STRING, description="good, worn, broken, loud")}),
        description="Sweeps things.",
        canonical=lambda decoded, _references, _project, _diagnostics: dict(decoded.attributes),
    )


def _bureau() -> ResourceType:
    return ResourceType(
        name="bureau",
        kind=Kind.CONNECTION,
        schema=Block(attributes={"ledger": Attribute(type=STRING, description="Its file.", required=True)}),
        description="Holds trays of letters.",
        canonical=lambda decoded, _references, _project, _diagnostics: dict(decoded.attributes),
    )


class ToyProvider:
    """The provider."""

    name = "toy"

    def resource_types(self) -> Mapping[str, Offered]:
        return {
            "thing": Offered(load=_thing),
            "broom": Offered(load=_broom, embedded=True),
            "bureau": Offered(load=_bureau),
        }

    def functions(self) -> Sequence[Function]:
        return ()

    def codes(self) -> CodeTable:
        return NO_CODES

    def open(self, project: Project) -> ToySession:
        return ToySession(project.root)
