"""The names that a rule reads of a plan, with their types. One table: rules are checked against it before a
plan exists, and the documentation shows it.
"""

import textwrap
from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple


class Subject(StrEnum):
    """The thing that a rule is asked about."""

    PLAN = "plan"
    CHANGE = "change"
    RESOURCE = "resource"
    CONSUMER = "consumer"


class Name(NamedTuple):
    """One name: its type as the documentation writes it, and its meaning."""

    type: str
    meaning: str


_ADDRESS: Final = Name("string", 'The address, with the key of an instance: `table.clicks["eu"]`.')
_TYPE: Final = Name("string", "The type of the block, such as `table`.")
_NAME: Final = Name("string", "The label of the block.")
_KEY: Final = Name("string or number", "The key of an instance of `for_each` or `count`, or null.")
_OWNER: Final = Name(
    "object({name, contact}) or null", "The owner, with texts that may be empty, or null where none is named."
)

NAMES: Final[Mapping[Subject, Mapping[str, Name]]] = {
    Subject.PLAN: {
        "workspace": Name("string", "The workspace."),
        "time": Name("string", "The time of the plan, as in `2027-01-31T08:00:00Z`."),
        "is_destroy": Name("bool", "The plan removes everything (`destroy`)."),
        "is_partial": Name("bool", "Targets, exclusions or `maintain` left something out."),
        "add": Name("number", "Resources that are created; each replacement counts."),
        "change": Name("number", "Resources that are changed."),
        "destroy": Name("number", "Resources that are destroyed; each replacement counts."),
        "import": Name("number", "Resources that are imported."),
        "forget": Name("number", "Resources that are forgotten and stay as they are."),
        "restart": Name("number", "Running queries that restart."),
        "generation": Name("number", "New generations of checkpoints."),
        "lose_data": Name("number", "Resources that lose data."),
        "blocked": Name("number", "Resources whose change is blocked."),
        "due": Name("number", "Maintenance tasks that apply runs."),
        "changes": Name("list of change", "Every change, as `change` shows it."),
        "resources": Name("map of resource", "Every resource as planned, by address."),
        "consumers": Name("list of consumer", "Every consumer that is declared."),
        "outputs": Name("list(object({name, before, after}))", "The outputs that differ."),
        "maintenance": Name(
            "list(object({address, name, what, forecast}))", "The maintenance tasks that apply runs."
        ),
        "complaints": Name(
            "list(object({severity, code, summary, detail, address}))", "Warnings and errors of the plan."
        ),
    },
    Subject.CHANGE: {
        "address": _ADDRESS,
        "type": _TYPE,
        "name": _NAME,
        "key": _KEY,
        "action": Name(
            "string", "`create`, `adopt` (an import), `update`, `replace`, `delete`, `forget` or `no-op`."
        ),
        "actions": Name(
            "list(string)", "The same in Terraform's words: what loses data or state contains `delete`."
        ),
        "section": Name("string", "`destructive`, `blocked`, `restarts` or `others`."),
        "reason": Name("string", "One stable word, as in `report -format=json`."),
        "what": Name("string", "The change in a few words."),
        "before": Name("object or null", "The attributes before the change; null where it is created."),
        "after": Name("object or null", "The attributes after the change; null where it goes."),
        "owner": _OWNER,
        "steps": Name("list(object({text, effect, why}))", "What happens; `effect` as the plan prints it."),
        "readers": Name(
            "list(object({address, owner, columns, certain, declared}))",
            "Jobs and consumers that notice it; `owner` is a text.",
        ),
        "attributes": Name(
            "list(object({path, origin, old, new, live, note}))",
            "Every attribute that differs; `path` is a list of names and indexes.",
        ),
        "interruption": Name(
            "object({restarts, why, state, batch_seconds}) or null", "The stop of a running query."
        ),
        "previous_address": Name("string or null", "The address that it is recorded under, where it moves."),
        "notes": Name("list(string)", "Reasons that the plan gives."),
        "drift": Name("list(string)", "Differences that were made outside of FlareIaC, in words."),
        "blockers": Name("list(object({code, summary, why}))", "Why it cannot be applied as written."),
    },
    Subject.RESOURCE: {
        "address": _ADDRESS,
        "type": _TYPE,
        "name": _NAME,
        "key": _KEY,
        "owner": _OWNER,
        "values": Name(
            "object",
            "The attributes as planned; those of the documents of resources. References are addresses.",
        ),
        "depends_on": Name("list(string)", "The addresses that it refers to."),
        "uses": Name(
            "list(object({address, relation, columns}))",
            "What it reads and writes (`writes`); columns in lower case, or null.",
        ),
        "previous_address": Name("string or null", "The address that it is recorded under, where it moves."),
        "change": Name("change or null", "Its change; null where nothing changes."),
        "complaints": Name(
            "list(object({severity, code, summary, detail, address}))",
            "Warnings and errors of the plan about it.",
        ),
    },
    Subject.CONSUMER: {
        "address": Name("string", "The address, such as `consumer.board`."),
        "name": _NAME,
        "key": _KEY,
        "owner": _OWNER,
        "values": Name("object", "Its attributes: `reads`, `columns`, `url`, `group`, `description`, ..."),
        "changes": Name("list of change", "The changes that it notices."),
    },
}
"""By subject, in the order in which they are shown."""


def names_page() -> str:
    """The names of all subjects as Markdown tables, each under a heading that ``explain`` finds."""
    pieces = []
    for subject, names in NAMES.items():
        rows = "".join(f"| `{name}` | {each.type} | {each.meaning} |\n" for name, each in names.items())
        pieces.append(
            f"## `policy.{subject}`\n\n{textwrap.fill(_ABOUT[subject], _WIDTH)}\n\n"
            f"| name | type | meaning |\n|---|---|---|\n{rows}"
        )
    return "\n".join(pieces)


_WIDTH: Final = 118
_ABOUT: Final = {
    Subject.PLAN: "The plan as a whole. Every rule may name it.",
    Subject.CHANGE: "One resource that the plan changes, or whose change is blocked: an entry of `changes` "
    "of `report -format=json`, with the attributes of `show -json`. A resource that goes is one, too.",
    Subject.RESOURCE: "One managed resource as it is once the plan is applied, whether it changes or not. A "
    "resource that goes is none: ask `change` about it.",
    Subject.CONSUMER: "One consumer that is declared.",
}
