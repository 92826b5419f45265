"""A provider that does nothing, so that what an apply costs is the core's own bookkeeping."""

from collections.abc import Mapping, Sequence

from flareiac.kernel.codes import NO_CODES, CodeTable
from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.types import STRING, MapType
from flareiac.sdk.actions import Delete
from flareiac.sdk.changes import Action, Effect, Proposal, Step
from flareiac.sdk.driver import Driver
from flareiac.sdk.project import Project
from flareiac.sdk.provider import Function, Offered
from flareiac.sdk.references import References
from flareiac.sdk.requests import ApplyRequest, ChangeRequest, PlanRequest, ReadRequest
from flareiac.sdk.resource_type import Decoded, Kind, ResourceType
from flareiac.sdk.results import Applied, Missing, Observation, Outcome, Present
from flareiac.sdk.schema import Attribute, Block, NestedBlock, Nesting
from flareiac.sdk.type_roles import Declaring, Planning

SCHEMA = Block(
    description="Nothing.",
    attributes={
        "namespace": Attribute(type=STRING, description="A text."),
        "location": Attribute(type=STRING, description="A text."),
        "properties": Attribute(type=MapType(STRING), description="Texts."),
    },
    blocks={
        "column": NestedBlock(
            nesting=Nesting.MAP,
            block=Block(attributes={"type": Attribute(type=STRING, description="A text.")}),
        ),
    },
)


def canonical(
    decoded: Decoded, _references: References, _project: Project, _diagnostics: Diagnostics
) -> Attributes:
    """The attributes as they are."""
    return dict(decoded.attributes)


class IdlePlanner:
    """Creates what is not recorded. Pure."""

    def fingerprint(self, request: PlanRequest) -> Data:
        return None

    def plan(self, request: PlanRequest) -> Proposal:
        if request.desired is None:
            return Proposal(action=Action.DELETE, planned=None)
        if isinstance(request.observed, Present):
            return Proposal(action=Action.NO_OP, planned=request.desired)
        return Proposal(
            action=Action.CREATE,
            planned=request.desired,
            steps=(Step(text="do nothing", effect=Effect.NO_EFFECT),),
        )


class IdleDriver:
    """Answers at once."""

    def read(self, request: ReadRequest) -> Observation:
        return Present(attributes=request.recorded.attributes) if request.recorded else Missing()

    def apply(self, request: ChangeRequest) -> Outcome:
        return Applied(attributes=request.action.planned, identity={})

    def delete(self, request: ApplyRequest[Delete]) -> Outcome:
        return Applied(attributes={}, identity={})


class IdleSession:
    def driver(self, type_name: str) -> Driver:
        return IdleDriver()

    def close(self) -> None:
        return


def _nothing() -> ResourceType:
    return ResourceType(
        name="nothing",
        kind=Kind.MANAGED,
        schema=SCHEMA,
        description="Nothing.",
        canonical=canonical,
        declaring=Declaring(follows_from_text=True),
        planning=Planning(planner=IdlePlanner, is_settled=lambda _unchanged: True),
    )


class IdleProvider:
    """The provider."""

    name = "idle"

    def resource_types(self) -> Mapping[str, Offered]:
        return {"nothing": Offered(load=_nothing)}

    def functions(self) -> Sequence[Function]:
        return ()

    def codes(self) -> CodeTable:
        return NO_CODES

    def open(self, project: Project) -> IdleSession:
        return IdleSession()


def provider() -> IdleProvider:
    """The entry point."""
    return IdleProvider()
