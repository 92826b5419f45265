"""A plan as Terraform's plan JSON, format 1.2, so that tools made for that read it. What only FlareIaC knows
stands under ``flareiac``.

A restart is an update, and so is metadata that cannot be set back. What loses state or data carries
``delete`` among its actions, whatever it is called here, so that rules which look for that word hold.
"""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime

from flareiac.kernel.addresses import parse_address
from flareiac.kernel.data import ABSENT, Attributes, Data, Json, references
from flareiac.kernel.records import encode
from flareiac.model.costs import Costs
from flareiac.model.desired import OutputValue
from flareiac.model.plan import Operation, OutputChange, Plan, PlannedResource, PlannedTask
from flareiac.model.policy import PolicyResults
from flareiac.render.conditions_json import checks_json
from flareiac.render.cost_text import cost_json, total_json
from flareiac.render.counts import counts
from flareiac.render.diagnostics import as_json
from flareiac.render.json_values import (
    TERRAFORM_VERSION,
    json_type,
    module_tree,
    parsed,
    place,
    plain,
    provider_name,
    sensitive_mask,
    unknown_mask,
)
from flareiac.render.readers_text import owner_json, readers_json
from flareiac.render.redaction import REDACTED, Schemas, hide, hide_attributes, hides, sensitive_in
from flareiac.sdk.changes import Action, AttributeChange, Origin
from flareiac.sdk.schema import Pattern

FORMAT_VERSION = "1.0"
"""The version of the format under ``flareiac``."""


def plan_json(plan: Plan, *, tool_version: str, schemas: Schemas | None = None) -> dict[str, Json]:
    """The whole plan as JSON data. Sensitive values are replaced, whatever ``schemas`` (by type) or planners
    call so.
    """
    known = schemas or {}
    drift = [entry for resource in plan.resources if (entry := _drift(resource, known)) is not None]
    return {
        "format_version": "1.2",
        "terraform_version": TERRAFORM_VERSION,
        "variables": {name: {"value": plain(value)} for name, value in sorted(plan.variables.items())},
        "planned_values": _planned_values(plan, known),
        **({"resource_drift": drift} if drift else {}),
        "resource_changes": [_resource_change(resource, known, plan.costs) for resource in plan.resources],
        "output_changes": {name: _output_change(output) for name, output in plan.outputs.items()},
        "configuration": _configuration(plan, known),
        **({"checks": checks} if (checks := checks_json(plan.conditions)) else {}),
        "timestamp": datetime.fromtimestamp(plan.time, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "applyable": plan.applyable,
        "complete": not plan.targeted and not plan.maintenance_only and not plan.errored,
        "errored": plan.errored,
        "flareiac": _own(plan, tool_version),
    }


def actions(resource: PlannedResource) -> list[str]:
    """Returns the actions on a resource, in Terraform's words."""
    match resource.action:
        case Action.NO_OP | Action.RECORD:
            return ["no-op"]
        case Action.CREATE:
            return ["create"]
        case Action.ADOPT | Action.UPDATE if resource.loses:
            return ["delete", "create"]
        case Action.ADOPT:
            return ["update"] if resource.proposal.changes else ["no-op"]
        case Action.UPDATE:
            return ["update"]
        case Action.REPLACE:
            return ["delete", "create"]
        case Action.DELETE:
            return ["delete"]
        case Action.FORGET:
            return ["forget"]


def before(resource: PlannedResource) -> Attributes | None:
    """Returns the present attributes, as far as they are declared: the recorded ones with drifted values in
    place.
    """
    match resource.action:
        case Action.CREATE:
            return None
        case Action.ADOPT:
            return resource.observed
        case _:
            return (
                resource.recorded if resource.recorded is None else _with_drift(resource.recorded, resource)
            )


def after(resource: PlannedResource) -> Attributes | None:
    """Returns the attributes after apply."""
    if resource.action in (Action.DELETE, Action.FORGET):
        return None
    if resource.proposal.planned is not None:
        return resource.proposal.planned
    return resource.desired if resource.desired is not None else resource.recorded


def _with_drift(attributes: Attributes, resource: PlannedResource) -> Attributes:
    for change in resource.proposal.changes:
        if change.origin in (Origin.DRIFT, Origin.BOTH) and change.path:
            attributes = _put(attributes, change.path, change.live)
    return attributes


def _put(value: Data, path: tuple[str | int, ...], new: Data) -> Data:
    head, *rest = path
    if not isinstance(value, dict) or (rest and head not in value):
        return value
    if new is ABSENT and not rest:
        return {key: member for key, member in value.items() if key != head}
    return {**value, head: _put(value[head], tuple(rest), new) if rest else new}


def _resource_change(resource: PlannedResource, schemas: Schemas, costs: Costs | None) -> dict[str, Json]:
    reason, change = _action_reason(resource), _change(resource, schemas)
    if costs is not None and (cost := costs.changes.get(resource.address)) is not None:
        own = _own_change(resource, sensitive_in(resource, schemas))
        change["flareiac"] = {**own, "cost": cost_json(cost, costs)}
    return {
        **place(resource.address),
        **({"previous_address": resource.previous_address} if resource.previous_address else {}),
        "provider_name": provider_name(resource.provider),
        "change": change,
        **({"action_reason": reason} if reason else {}),
    }


def _change(resource: PlannedResource, schemas: Schemas) -> dict[str, Json]:
    patterns = sensitive_in(resource, schemas)
    verbs = actions(resource)
    change = _values(verbs, before(resource), after(resource), patterns)
    if "delete" in verbs and "create" in verbs:
        change["replace_paths"] = [list(changed.path) for changed in resource.proposal.changes]
    if resource.action is Action.ADOPT:
        change["importing"] = {"id": resource.import_id or resource.address}
    change["flareiac"] = _own_change(resource, patterns)
    return change


def _values(
    verbs: list[str], old: Attributes | None, new: Attributes | None, patterns: tuple[Pattern, ...]
) -> dict[str, Json]:
    return {
        "actions": verbs,
        "before": plain(hide_attributes(old, patterns)),
        "after": plain(hide_attributes(new, patterns)),
        "after_unknown": {} if new is None else unknown_mask(new),
        "before_sensitive": False if old is None else sensitive_mask(old, patterns),
        "after_sensitive": False if new is None else sensitive_mask(new, patterns),
    }


def _own_change(resource: PlannedResource, patterns: tuple[Pattern, ...]) -> dict[str, Json]:
    proposal = resource.proposal
    return {
        "action": proposal.action.value,
        "restart": resource.restarts,
        "changes": [attribute_change(change, patterns) for change in proposal.changes],
        "steps": [
            {
                "text": step.text,
                "effect": step.effect.value,
                "why": step.why,
                **({"rules": list(step.rules)} if step.rules else {}),
                **({"readers": readers_json(step.readers)} if step.readers else {}),
            }
            for step in proposal.steps
        ],
        "reasons": list(proposal.reasons),
        "blockers": [
            {
                "code": blocker.code,
                "summary": blocker.summary,
                "why": blocker.why,
                "ways_out": list(blocker.ways_out),
                **({"rules": list(blocker.rules)} if blocker.rules else {}),
            }
            for blocker in proposal.blockers
        ],
        "drift": list(proposal.drift),
        "unproven": proposal.unproven,
        **({"owner": owner_json(resource.owner)} if resource.owner is not None else {}),
        **({"unknown": list(proposal.unknown)} if proposal.unknown else {}),
    }


def attribute_change(change: AttributeChange, patterns: tuple[Pattern, ...]) -> dict[str, Json]:
    """One changed attribute, with nothing in it that matches ``patterns``."""
    old, new, live = map(plain, shown_ends(change, patterns))
    return {
        "path": list(change.path),
        "origin": change.origin.value,
        "old": old,
        "new": new,
        "live": live,
        "new_unknown": unknown_mask(change.new),
        "note": change.note,
        "sensitive": change.sensitive or hides(patterns, change.path),
    }


def shown_ends(change: AttributeChange, patterns: tuple[Pattern, ...]) -> tuple[Data, Data, Data]:
    """The old, the new and the live value, with ``REDACTED`` in place of what matches ``patterns``."""
    hidden = change.sensitive or hides(patterns, change.path)
    inner = [
        pattern[len(change.path) :] for pattern in patterns if pattern[: len(change.path)] == change.path
    ]

    def shown(value: Data) -> Data:
        return REDACTED if hidden and value is not None and value is not ABSENT else hide(value, inner)

    return shown(change.old), shown(change.new), shown(change.live)


def _action_reason(resource: PlannedResource) -> str | None:
    verbs = actions(resource)
    if "delete" not in verbs:
        return None
    if "create" in verbs:
        if resource.triggered_by:
            return "replace_by_triggers"
        return "replace_by_request" if resource.replace else "replace_because_cannot_update"
    return "delete_because_no_resource_config" if resource.desired is None else None


def _drift(resource: PlannedResource, schemas: Schemas) -> dict[str, Json] | None:
    """Returns the changes that were made outside FlareIaC since the last apply: recorded before, observed
    after.
    """
    recorded = resource.recorded
    if recorded is None:
        return None
    gone = resource.observed is None and bool(resource.proposal.drift)
    live = None if gone else _with_drift(recorded, resource)
    if not gone and live == recorded and not resource.proposal.drift:
        return None
    verbs = ["delete"] if gone else ["update"] if live != recorded else ["no-op"]
    change = _values(verbs, recorded, live, sensitive_in(resource, schemas))
    change["flareiac"] = {"drift": list(resource.proposal.drift)}
    return {**place(resource.address), "provider_name": provider_name(resource.provider), "change": change}


def _planned_values(plan: Plan, schemas: Schemas) -> dict[str, Json]:
    outputs = {
        name: _output_value(output.after) for name, output in plan.outputs.items() if output.after is not None
    }
    resources = [
        (resource.address, _planned_resource(resource, schemas))
        for resource in plan.resources
        if after(resource) is not None
    ]
    return {**({"outputs": outputs} if outputs else {}), "root_module": module_tree(resources)}


def _planned_resource(resource: PlannedResource, schemas: Schemas) -> dict[str, Json]:
    patterns, values = sensitive_in(resource, schemas), after(resource)
    fields = place(resource.address)
    fields.pop("module_address", None)
    return {
        **fields,
        "provider_name": provider_name(resource.provider),
        "schema_version": resource.schema_version,
        "values": plain(hide_attributes(values, patterns)),
        "sensitive_values": sensitive_mask(values, patterns),
        **({"depends_on": list(resource.dependencies)} if resource.dependencies else {}),
    }


def _output_value(output: OutputValue) -> dict[str, Json]:
    return {"sensitive": output.sensitive, "type": json_type(output.value), "value": plain(output.value)}


def _output_change(change: OutputChange) -> dict[str, Json]:
    old, new = change.before, change.after
    verb = "no-op" if old == new else "create" if old is None else "delete" if new is None else "update"
    return {
        "actions": [verb],
        "before": plain(old.value) if old else None,
        "after": plain(new.value) if new else None,
        "after_unknown": unknown_mask(new.value) if new else False,
        "before_sensitive": old.sensitive if old else False,
        "after_sensitive": new.sensitive if new else False,
    }


def _configuration(plan: Plan, schemas: Schemas) -> dict[str, Json]:
    names = sorted({resource.provider for resource in plan.resources})
    managed = {resource.type for resource in plan.resources}
    blocks: dict[str, dict[str, Json]] = {}
    for resource in plan.resources:
        if resource.desired is not None:
            block = str(parsed(resource.address).block)
            blocks.setdefault(block, _configured(block, resource, schemas, managed))
    return {
        "provider_config": {name: {"name": name, "full_name": provider_name(name)} for name in names},
        "root_module": _configured_module(list(blocks.items()), 0),
    }


def _configured(
    block: str, resource: PlannedResource, schemas: Schemas, managed: AbstractSet[str]
) -> dict[str, Json]:
    """One block. What differs between the instances of a repeated block is not known here, so only its
    references are reported.
    """
    address = parsed(resource.address)
    attributes = hide_attributes(resource.desired, sensitive_in(resource, schemas)) or {}
    return {
        "address": block,
        "mode": "managed",
        "type": address.type,
        "name": address.name,
        "provider_config_key": resource.provider,
        "expressions": _expressions(attributes, managed, repeated=address.key is not None),
        "schema_version": resource.schema_version,
    }


def _expressions(attributes: Attributes, managed: AbstractSet[str], *, repeated: bool) -> dict[str, Json]:
    expressions: dict[str, Json] = {}
    for name, value in attributes.items():
        # If an attribute has the name of the type that it refers to, as a job's checkpoint, readers that
        # nest resources of a type in those that refer to them find a text in their place, and fail. A
        # connection is not a resource, and is nested nowhere.
        if (named := references(value)) and name not in managed & {parsed(address).type for address in named}:
            expressions[name] = {"references": named}
        elif value is not None and not repeated:
            expressions[name] = {"constant_value": plain(value)}
    return expressions


def _configured_module(blocks: Sequence[tuple[str, Mapping[str, Json]]], depth: int) -> dict[str, Json]:
    """Blocks sorted into calls of modules; inside a module, addresses are relative to it."""
    own: list[Json] = []
    calls: dict[str, list[tuple[str, Mapping[str, Json]]]] = {}
    for name, block in blocks:
        address = parse_address(name)
        steps = address.module[depth:] if address else ()
        if steps:
            calls.setdefault(steps[0].name, []).append((name, block))
        else:
            own.append({**block, "address": f"{block['type']}.{block['name']}"})
    module: dict[str, Json] = {"resources": own}
    if calls:
        module["module_calls"] = {
            name: {"source": name, "expressions": {}, "module": _configured_module(inner, depth + 1)}
            for name, inner in calls.items()
        }
    return module


def _own(plan: Plan, tool_version: str) -> dict[str, Json]:
    totals = counts(plan)
    return {
        "format_version": FORMAT_VERSION,
        "version": tool_version,
        "lineage": plan.lineage,
        "serial": plan.serial,
        "workspace": plan.workspace,
        "configuration": plan.configuration,
        "destroy": plan.destroy,
        "targeted": plan.targeted,
        "summary": {
            "add": totals.add,
            "change": totals.change,
            "destroy": totals.destroy,
            "import": totals.imported,
            "forget": totals.forget,
            "restart": totals.restart,
            "lose": totals.lose,
            "record": totals.record,
            "blocked": totals.blocked,
            "due": totals.due,
        },
        "blocked": [resource.address for resource in plan.blocked],
        "due": [
            {"address": task.address, "due": task.task.due, **task_json(task), **_task_cost(task, plan.costs)}
            for task in plan.tasks
        ],
        **({"cost": total_json(plan.costs)} if plan.costs is not None else {}),
        "operations": [_operation(operation) for operation in plan.operations],
        "diagnostics": as_json(plan.diagnostics, {}),
        **({"moves": dict(sorted(plan.moves.items()))} if plan.moves else {}),
        **({"protection": plan.protection} if plan.protection else {}),
        **({"policy": policy_json(plan.policy)} if plan.policy is not None else {}),
    }


def _task_cost(planned_task: PlannedTask, costs: Costs | None) -> dict[str, Json]:
    cost = None if costs is None else costs.tasks.get(planned_task.address, {}).get(planned_task.task.name)
    return {} if costs is None or cost is None else {"cost": cost_json(cost, costs)}


def policy_json(results: PolicyResults) -> dict[str, Json]:
    """The answers of the rules of the team; ``passed``: no mandatory rule keeps the plan from being
    applied.
    """
    document: dict[str, Json] = {"passed": not results.refuses, **encode(results)}
    return document


def _operation(operation: Operation) -> dict[str, Json]:
    edges = [
        {"after": edge.after, "kind": edge.kind.value, "reason": edge.reason} for edge in operation.edges
    ]
    rendered: dict[str, Json] = {
        "id": operation.id,
        "address": operation.address,
        "verb": operation.verb.value,
        "edges": edges,
    }
    words = {
        "duty": operation.task,
        "stage": operation.stage,
        "text": operation.text,
        "effect": operation.effect.value if operation.effect is not None else "",
    }
    return {**rendered, **{name: text for name, text in words.items() if text}}


def task_json(planned_task: PlannedTask) -> dict[str, Json]:
    """One kind of maintenance: what would be done and what it is expected to do, by name."""
    task = planned_task.task
    return {
        "name": task.name,
        "summary": task.summary,
        **({"readers": readers_json(task.readers)} if task.readers else {}),
        "forecast": dict(task.forecast),
        "held": list(task.held),
        "performer": task.performer.address if task.performer is not None else None,
        "work": None if task.work is None else dict(task.work.data),
    }
