"""The blocks of the language itself, as data: what they take is checked against these records, and the JSON
schema of the language shows them. Pure.
"""

from collections.abc import Mapping
from typing import Final

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.types import ANY, BOOL, STRING, ListType, MapType, ObjectType, Type
from flareiac.lang.written import OpenBlock, Reading, WrittenAttribute
from flareiac.model.policy import Enforcement
from flareiac.sdk.schema import Attribute, Block, NestedBlock, Nesting
from flareiac.sdk.validators import one_of


def _attribute(type_: Type, description: str, *, required: bool = False) -> Attribute:
    return Attribute(type=type_, description=description, required=required)


def _code(type_: Type, description: str, *, required: bool = False) -> Attribute:
    """An address or a type, which JSON spells in a text."""
    return WrittenAttribute(type=type_, description=description, required=required, reading=Reading.CODE)


def _literal(type_: Type, description: str, *, required: bool = False) -> Attribute:
    """An attribute that is not evaluated: in JSON, a text means itself."""
    return WrittenAttribute(type=type_, description=description, required=required, reading=Reading.LITERAL)


def _many(block: Block, *, labelled: bool = False, required: bool = False) -> NestedBlock:
    return NestedBlock(nesting=Nesting.MAP if labelled else Nesting.LIST, block=block, required=required)


_TEXTS: Final = ListType(STRING)
_CONDITION: Final = {
    "condition": _attribute(BOOL, "What must hold.", required=True),
    "error_message": _attribute(STRING, "The error where it does not hold.", required=True),
}
CHECKED: Final = Block(
    description="A condition, and the error where it does not hold.", attributes=_CONDITION
)
VARIABLE: Final = Block(
    description="A value from outside.",
    attributes={
        "type": _code(ANY, "The type: string, number, bool, any, list(...), object({...}) and so on."),
        "default": _literal(ANY, "The value where none is given."),
        "description": _literal(ANY, "What the value is for."),
        "sensitive": _attribute(BOOL, "Plans never show the value."),
        "nullable": _attribute(BOOL, "With false, null becomes the default."),
    },
    blocks={"validation": _many(CHECKED)},
)
OUTPUT: Final = Block(
    description="A value that flareiac output prints after an apply.",
    attributes={
        "value": _attribute(ANY, "The value.", required=True),
        "description": _literal(ANY, "What the value is for."),
        "sensitive": _attribute(BOOL, "The value is never shown."),
        "depends_on": _code(ListType(ANY), "Resources that are handled first."),
    },
    blocks={"precondition": _many(CHECKED)},
)
MODULE: Final = OpenBlock(
    description="Calls a module: the blocks of another folder, with values for its variables.",
    attributes={
        "source": _literal(STRING, "The folder of the module: ./modules/sales or ../sales.", required=True),
        "count": _attribute(ANY, "So many instances."),
        "for_each": _attribute(ANY, "One instance for each entry of a map or element of a set of strings."),
        "depends_on": _code(ANY, "What is handled before each resource of the module."),
    },
)
"""Its other attributes are the values of the module's variables."""
IMPORT: Final = Block(
    description="Adopts an object that exists.",
    attributes={
        "to": _code(ANY, "The address of the block that the object becomes.", required=True),
        "id": _attribute(STRING, "The object, by its id in the system that has it.", required=True),
        "takeover": _attribute(BOOL, "Adopts also what another state manages."),
        "for_each": _attribute(ANY, "One import for each entry; each.key is known in to and id."),
    },
)
_REMOVED_LIFECYCLE: Final = Block(
    attributes={"destroy": _attribute(BOOL, "Destroys the object; otherwise it is forgotten and stays.")}
)
REMOVED: Final = Block(
    description="Says what happens to an object whose block is deleted.",
    attributes={
        "from": _code(ANY, "The address of what has no block any more.", required=True),
        "for_each": _attribute(ANY, "One removal for each entry; each.key is known in from."),
    },
    blocks={"lifecycle": NestedBlock(nesting=Nesting.SINGLE, block=_REMOVED_LIFECYCLE)},
)
MOVED: Final = Block(
    description="Says that a resource or a module has another address now.",
    attributes={
        "from": _code(ANY, "The address that it had.", required=True),
        "to": _code(ANY, "The address that it has now.", required=True),
    },
)
LIFECYCLE: Final = Block(
    description="What may happen to the object of a resource.",
    attributes={
        "prevent_destroy": _attribute(BOOL, "Refuses a plan that destroys or forgets the object."),
        "ignore_changes": _code(
            ANY, "A list of attributes that FlareIaC leaves as they are; or all, without quotes."
        ),
        "replace_triggered_by": _code(
            ListType(ANY), "Resources or attributes of them; a change of one replaces this resource."
        ),
        "enabled": _attribute(BOOL, "With false there is no instance; excludes count and for_each."),
    },
    blocks={"precondition": _many(CHECKED), "postcondition": _many(CHECKED)},
)
DATA_LIFECYCLE: Final = Block(
    description="The conditions of a data block.",
    attributes={"enabled": _attribute(BOOL, "With false it is not read; excludes count and for_each.")},
    blocks={"precondition": _many(CHECKED), "postcondition": _many(CHECKED)},
)
SCOPED_DATA: Final = Block(description="A data block that this check alone reads.")
"""Its labels and what it takes are those of a data block."""
CHECK: Final = Block(
    description="Assertions about what exists. One that does not hold is a warning of plan and apply.",
    blocks={
        "assert": _many(CHECKED, required=True),
        "data": NestedBlock(nesting=Nesting.SINGLE, block=SCOPED_DATA),
    },
)
META: Final = Block(
    attributes={
        "count": _attribute(ANY, "So many instances."),
        "for_each": _attribute(ANY, "One instance for each entry of a map or element of a set of strings."),
        "depends_on": _code(ANY, "Resources that are handled first, where no reference says so."),
        "owner": _attribute(ANY, "Who answers for it: a text, or an object with name and contact."),
    },
    blocks={"lifecycle": NestedBlock(nesting=Nesting.SINGLE, block=LIFECYCLE)},
)
"""The attributes and blocks of every resource beside those of its type; the lifecycle of ``data`` has
conditions alone.
"""
EXCEPTION: Final = Block(
    description="Allows something for a time.",
    attributes={
        "addresses": _attribute(_TEXTS, "The addresses or globs; without them, whatever the rule is about."),
        "reason": _attribute(STRING, "Why it is allowed.", required=True),
        "expires": _attribute(STRING, "The last day, or a time with its zone.", required=True),
    },
)
_WEIGHT: Final = Attribute(
    type=STRING,
    description="A plan that does not meet a mandatory rule cannot be applied.",
    validators=(one_of(*map(str, Enforcement)),),
)
RULE: Final = Block(
    description="One rule: a built-in one (use), or a condition.",
    attributes={
        "use": _attribute(STRING, "The built-in rule."),
        "parameters": _attribute(MapType(ANY), "The parameters of the built-in rule."),
        "enforcement": _WEIGHT,
        "description": _attribute(STRING, "What the rule is for."),
        "types": _attribute(_TEXTS, "The resource types that the rule is about."),
        "addresses": _attribute(_TEXTS, "The addresses or globs that the rule is about."),
        "condition": _attribute(BOOL, "What must hold of the plan, of one of its changes or of a resource."),
        "when": _attribute(BOOL, "Where the rule applies."),
        "message": _attribute(STRING, "What is said where the condition does not hold."),
    },
    blocks={"exception": _many(EXCEPTION)},
)
POLICY: Final = Block(
    description="Rules of a team about plans.",
    attributes={"enforcement": _WEIGHT, "description": _attribute(STRING, "What the rules are for.")},
    blocks={"rule": _many(RULE, labelled=True, required=True)},
)
DRIFT_IGNORE: Final = Block(
    description="Known drift that is left alone.",
    attributes={
        "address": _literal(STRING, "The resource whose drift is known, or a glob.", required=True),
        "attribute": _literal(STRING, "The attribute; without it, all of them."),
        "reason": _literal(STRING, "Why it is left alone.", required=True),
        "expires": _literal(STRING, "The last day, or a time."),
    },
)
WORKSPACE: Final = Block(
    description="What may be done to workspaces of this name or glob.",
    attributes={
        "protected": _literal(BOOL, "Applies saved plans alone, and destroys nothing.", required=True),
        "require_reviewed_plan": _literal(
            ObjectType({"approvals": STRING}), "The variable that says who approved: env:NAME."
        ),
    },
)
_PASSPHRASE: Final = {
    "env": _literal(STRING, "The environment variable with the passphrase."),
    "file": _literal(STRING, "The file with the passphrase."),
}
FALLBACK: Final = Block(description="Decrypts what the passphrase does not.", attributes=_PASSPHRASE)
ENCRYPTION: Final = Block(
    description="Where the passphrase is that state and saved plans are encrypted with.",
    attributes=_PASSPHRASE,
    blocks={"fallback": NestedBlock(nesting=Nesting.SINGLE, block=FALLBACK)},
)
BACKEND: Final = OpenBlock(
    description="Where the state is kept. The label is the kind of place.", others=Reading.LITERAL
)
"""Its attributes are the settings of its kind."""
SETTINGS: Final = Block(
    description="Settings of the project.",
    attributes={
        "owner": _attribute(ANY, "Who answers for every block that names no owner."),
        "required_version": _literal(STRING, "The versions of FlareIaC that may be used."),
        "state_owner": _literal(STRING, "To whom the state belongs where the folder does not say it."),
    },
    blocks={
        "backend": NestedBlock(nesting=Nesting.MAP, block=BACKEND),
        "encryption": NestedBlock(nesting=Nesting.SINGLE, block=ENCRYPTION),
        "drift_ignore": _many(DRIFT_IGNORE),
        "workspace": NestedBlock(nesting=Nesting.MAP, block=WORKSPACE, any_label=True),
    },
)
LOCALS: Final = OpenBlock(description="Named expressions; local.NAME reads one.")
"""It takes any attribute."""


@dataclass(frozen=True, slots=True)
class OwnBlock:
    """A block type of the language. ``is_labelled``: its one label is its name."""

    block: Block
    is_labelled: bool = False


OWN_BLOCKS: Final[Mapping[str, OwnBlock]] = {
    "flareiac": OwnBlock(SETTINGS),
    "variable": OwnBlock(VARIABLE, is_labelled=True),
    "locals": OwnBlock(LOCALS),
    "output": OwnBlock(OUTPUT, is_labelled=True),
    "module": OwnBlock(MODULE, is_labelled=True),
    "check": OwnBlock(CHECK, is_labelled=True),
    "import": OwnBlock(IMPORT),
    "removed": OwnBlock(REMOVED),
    "moved": OwnBlock(MOVED),
    "policy": OwnBlock(POLICY, is_labelled=True),
}
"""The blocks at the top of a file, but for ``data``, whose types are those of the providers."""
