"""The calls of functions that no plan knows the result of, looked for where a value is not known. Pure."""

from collections.abc import Mapping

from flareiac.lang.functions.moments import NEVER_KNOWN
from flareiac.lang.references import calls, references
from flareiac.lang.syntax import AttributeNode, Node


def never_known(node: Node, local_values: Mapping[str, AttributeNode]) -> str | None:
    """The name of such a function that a node calls, itself or through local values; None where it calls
    none.
    """
    waiting, seen = [node], set[str]()
    while waiting:
        at = waiting.pop()
        for call in calls(at):
            if (name := call.name.removeprefix("core::")) in NEVER_KNOWN:
                return name
        for traversal in references(at):
            match traversal.root, traversal.steps:
                case "local", (str() as name, *_) if name in local_values and name not in seen:
                    seen.add(name)
                    waiting.append(local_values[name].expr)
    return None


def reason(function: str) -> str:
    """The clause that says what the function gives, and the sentence that says what to write."""
    instead = "uuidv5() gives a UUID that stays"
    if function == "timestamp":
        instead = "plantimestamp() gives the time of the plan, and a variable holds one that stays"
    return f"{function}(), which gives something else each time, so that no plan knows what. {instead}."
