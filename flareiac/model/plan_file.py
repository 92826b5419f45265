"""The plan file: one self-contained JSON document. Unknown format versions are refused; equal plans have equal bytes."""

import json

from flareiac.kernel.data import Data, digest, from_json, read_json, to_json
from flareiac.kernel.diagnostics import Diagnostic, Severity
from flareiac.kernel.paths import Path
from flareiac.kernel.sources import Position, Span
from flareiac.model.damage import UNREADABLE, damage
from flareiac.model.desired import OutputValue
from flareiac.model.plan import Edge, EdgeKind, Operation, OutputChange, Plan, PlannedDuty, PlannedResource, Verb
from flareiac.model.relocation import BoundPlace, restored, stored
from flareiac.model.shape import check
from flareiac.model.snapshot import decode_output, encode_output
from flareiac.sdk.changes import (
    ABSENT,
    Absent,
    Action,
    AttributeChange,
    Blocker,
    Disturbance,
    Effect,
    Origin,
    Proposal,
    Reaction,
    Relation,
    Step,
)
from flareiac.sdk.maintenance import Duty, decode_work, encode_work
from flareiac.sdk.references import Resolved
from flareiac.sdk.state import Damaged

FORMAT_VERSION = 2
"""2: places below the root module are relative to it."""
_ABSENT_KEY = "$absent"


def encode_plan(plan: Plan, *, tool_version: str, root: str) -> bytes:
    """The plan's bytes, with what lies below the root module in ``root`` relative to it."""
    document: dict[str, Data] = {
        "format_version": FORMAT_VERSION,
        "kind": "flareiac-plan",
        "flareiac_version": tool_version,
        "lineage": plan.lineage,
        "serial": plan.serial,
        "workspace": plan.workspace,
        "time": plan.time,
        "configuration": plan.configuration,
        "destroy": plan.destroy,
        "targeted": plan.targeted,
        "upkeep_only": plan.upkeep_only,
        "resources": [_encode_resource(item) for item in plan.resources],
        "references": {
            address: {"type": item.type, "attributes": to_json(item.attributes), "identity": to_json(item.identity)}
            for address, item in sorted(plan.references.items())
        },
        "operations": [_encode_operation(item) for item in plan.operations],
        "duties": [_encode_duty(item) for item in plan.duties],
        "outputs": {
            name: {"before": _encode_output(item.before), "after": _encode_output(item.after)}
            for name, item in sorted(plan.outputs.items())
        },
        "diagnostics": [_encode_diagnostic(item) for item in plan.diagnostics],
        "variables": to_json(dict(plan.variables)),
    }
    document = stored(document, root)
    document["bound"] = {"root": plan.made_in, "places": [_encode_bound(item) for item in plan.bound]}
    document["digest"] = digest(document)
    return json.dumps(document, indent=1, ensure_ascii=False).encode() + b"\n"


def decode_plan(content: bytes, where: str, root: str) -> Plan:
    """The inverse of ``encode_plan``, for the root module in ``root``. Raises ``Damaged`` for what is no plan, or one of another format."""
    try:
        document = read_json(content)
        if document["kind"] != "flareiac-plan":
            raise Damaged(where, "it is not a plan file")
        if document["format_version"] != FORMAT_VERSION:
            raise Damaged(where, f"it has plan format {document['format_version']}; this FlareIaC reads format {FORMAT_VERSION}")
        if document.pop("digest") != digest(document):
            raise Damaged(where, "it is not as FlareIaC wrote it: it was changed, or damaged on the way")
        bound = document.pop("bound")
        document = restored(document, root)
        plan = Plan(
            lineage=document["lineage"],
            serial=document["serial"],
            workspace=document["workspace"],
            time=document["time"],
            configuration=document["configuration"],
            destroy=document["destroy"],
            targeted=document["targeted"],
            upkeep_only=document["upkeep_only"],
            resources=tuple(map(_decode_resource, document["resources"])),
            references={
                address: Resolved(
                    address=address,
                    type=item["type"],
                    attributes=from_json(item["attributes"]),
                    identity=from_json(item["identity"]),
                )
                for address, item in document["references"].items()
            },
            operations=tuple(map(decode_operation, document["operations"])),
            duties=tuple(map(_decode_duty, document["duties"])),
            outputs={
                name: OutputChange(before=_decode_output(item["before"]), after=_decode_output(item["after"]))
                for name, item in document["outputs"].items()
            },
            diagnostics=tuple(map(_decode_diagnostic, document["diagnostics"])),
            variables=from_json(document["variables"]),
            bound=tuple(map(_decode_bound, bound["places"])),
            made_in=_text(bound["root"]),
        )
        check(plan, Plan)
        return plan
    except UNREADABLE as problem:
        raise Damaged(where, damage(problem, "a FlareIaC plan file")) from problem


def plan_digest(plan: Plan) -> str:
    """What tells one plan from another: everything that apply would execute, and when it was made."""
    return digest(
        [
            plan.lineage,
            plan.time,
            [_encode_operation(item) for item in plan.operations],
            [[item.address, to_json(item.proposal.payload), to_json(item.proposal.planned)] for item in plan.resources],
        ]
    )


def _encode_resource(item: PlannedResource) -> Data:
    return {
        "address": item.address,
        "type": item.type,
        "provider": item.provider,
        "proposal": encode_proposal(item.proposal),
        "desired": to_json(item.desired),
        "recorded": to_json(item.recorded),
        "identity": to_json(item.identity),
        "observed": to_json(item.observed),
        "dependencies": list(item.dependencies),
        "protected": item.protected,
        "schema_version": item.schema_version,
        "import_id": item.import_id,
        "destroy_object": item.destroy_object,
        "replace": item.replace,
        "disturbances": [_encode_disturbance(each) for each in item.disturbances],
        "resolved": to_json(dict(item.resolved)),
    }


def _decode_resource(data: Data) -> PlannedResource:
    return PlannedResource(
        address=data["address"],
        type=data["type"],
        provider=data["provider"],
        proposal=decode_proposal(data["proposal"]),
        desired=from_json(data["desired"]),
        recorded=from_json(data["recorded"]),
        identity=from_json(data["identity"]),
        observed=from_json(data["observed"]),
        dependencies=tuple(data["dependencies"]),
        protected=data["protected"],
        schema_version=data["schema_version"],
        import_id=data["import_id"],
        destroy_object=data["destroy_object"],
        replace=data["replace"],
        disturbances=tuple(map(_decode_disturbance, data["disturbances"])),
        resolved=from_json(data["resolved"]),
    )


def encode_proposal(proposal: Proposal) -> Data:
    """One proposal as JSON data."""
    return {
        "action": proposal.action.value,
        "planned": to_json(proposal.planned),
        "changes": [
            {
                "path": list(change.path),
                "origin": change.origin.value,
                "old": _encode_value(change.old),
                "new": _encode_value(change.new),
                "live": _encode_value(change.live),
                "note": change.note,
                "sensitive": change.sensitive,
            }
            for change in proposal.changes
        ],
        "steps": [{"text": step.text, "effect": step.effect.value, "why": step.why} for step in proposal.steps],
        "reasons": list(proposal.reasons),
        "blockers": [
            {"code": item.code, "summary": item.summary, "why": item.why, "ways_out": list(item.ways_out)} for item in proposal.blockers
        ],
        "disturbs": [_encode_disturbance(item) for item in proposal.disturbs],
        "drift": list(proposal.drift),
        "fingerprint": to_json(proposal.fingerprint),
        "payload": to_json(proposal.payload),
        "diagnostics": [_encode_diagnostic(item) for item in proposal.diagnostics],
        "unproven": proposal.unproven,
    }


def decode_proposal(data: Data) -> Proposal:
    """The inverse of ``encode_proposal``."""
    return Proposal(
        action=Action(data["action"]),
        planned=from_json(data["planned"]),
        changes=tuple(
            AttributeChange(
                path=tuple(change["path"]),
                origin=Origin(change["origin"]),
                old=_decode_value(change["old"]),
                new=_decode_value(change["new"]),
                live=_decode_value(change["live"]),
                note=change["note"],
                sensitive=change["sensitive"],
            )
            for change in data["changes"]
        ),
        steps=tuple(Step(text=step["text"], effect=Effect(step["effect"]), why=step["why"]) for step in data["steps"]),
        reasons=tuple(data["reasons"]),
        blockers=tuple(
            Blocker(code=item["code"], summary=item["summary"], why=item["why"], ways_out=tuple(item["ways_out"]))
            for item in data["blockers"]
        ),
        disturbs=tuple(map(_decode_disturbance, data["disturbs"])),
        drift=tuple(data["drift"]),
        fingerprint=from_json(data["fingerprint"]),
        payload=from_json(data["payload"]),
        diagnostics=tuple(map(_decode_diagnostic, data["diagnostics"])),
        unproven=data["unproven"],
    )


def _encode_disturbance(item: Disturbance) -> Data:
    return {
        "relation": item.relation.value,
        "reaction": item.reaction.value,
        "reason": item.reason,
        **({"tolerance": item.tolerance} if item.tolerance else {}),
    }


def _decode_disturbance(data: Data) -> Disturbance:
    return Disturbance(
        relation=Relation(data["relation"]), reaction=Reaction(data["reaction"]), reason=data["reason"], tolerance=data.get("tolerance", "")
    )


def _encode_value(value: Data) -> Data:
    return {_ABSENT_KEY: True} if isinstance(value, Absent) else to_json(value)


def _decode_value(value: Data) -> Data:
    return ABSENT if isinstance(value, dict) and value == {_ABSENT_KEY: True} else from_json(value)


def _encode_operation(item: Operation) -> Data:
    edges = [{"after": edge.after, "kind": edge.kind.value, "reason": edge.reason} for edge in item.edges]
    return {"id": item.id, "address": item.address, "verb": item.verb.value, "edges": edges, "duty": item.duty}


def _encode_duty(item: PlannedDuty) -> Data:
    duty = item.duty
    return {
        "address": item.address,
        "name": duty.name,
        "id": duty.id,
        "due": duty.due,
        "summary": duty.summary,
        "forecast": dict(duty.forecast),
        "held": list(duty.held),
        "diagnostics": [_encode_diagnostic(each) for each in duty.diagnostics],
        "performer": to_json(duty.performer),
        "work": None if duty.work is None else encode_work(duty.work),
    }


def _decode_duty(data: Data) -> PlannedDuty:
    duty = Duty(
        name=data["name"],
        id=data["id"],
        due=data["due"],
        summary=data["summary"],
        forecast=data["forecast"],
        held=tuple(data["held"]),
        diagnostics=tuple(map(_decode_diagnostic, data["diagnostics"])),
        performer=from_json(data["performer"]),
        work=None if data["work"] is None else decode_work(data["work"]),
    )
    return PlannedDuty(address=data["address"], duty=duty)


def decode_operation(data: Data) -> Operation:
    """One operation from JSON data."""
    edges = tuple(Edge(after=edge["after"], kind=EdgeKind(edge["kind"]), reason=edge["reason"]) for edge in data["edges"])
    return Operation(id=data["id"], address=data["address"], verb=Verb(data["verb"]), edges=edges, duty=data["duty"])


def _text(value: Data) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected a text, found {value!r}")
    return value


def _encode_bound(item: BoundPlace) -> Data:
    return {"address": item.address, "attribute": list(item.attribute), "climbs": item.climbs}


def _decode_bound(data: Data) -> BoundPlace:
    return BoundPlace(address=data["address"], attribute=tuple(data["attribute"]), climbs=data["climbs"])


def _encode_output(output: OutputValue | None) -> Data:
    return None if output is None else encode_output(output)


def _decode_output(data: Data) -> OutputValue | None:
    return None if data is None else decode_output(data)


def _encode_diagnostic(item: Diagnostic) -> Data:
    span = item.subject
    return {
        "code": item.code,
        "severity": item.severity.value,
        "summary": item.summary,
        "detail": item.detail,
        "address": item.address,
        "attribute": list(item.attribute),
        "subject": None if span is None else [span.path, *_corner(span.start), *_corner(span.end)],
    }


def _corner(position: Position) -> tuple[int, int, int]:
    return (position.line, position.column, position.offset)


def _decode_diagnostic(data: Data) -> Diagnostic:
    span = data["subject"]
    path: Path = tuple(data["attribute"])
    return Diagnostic(
        code=data["code"],
        severity=Severity(data["severity"]),
        summary=data["summary"],
        detail=data["detail"],
        address=data["address"],
        attribute=path,
        subject=None if span is None else Span(span[0], Position(*span[1:4]), Position(*span[4:7])),
    )
