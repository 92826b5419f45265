"""The definition to record when the new one means what the running one means. Pure.

A change that restarts nothing leaves the query as it was started. So what runs stays recorded: the next
change is compared with it, and a restart by hand takes what was judged. Only what a query knows nothing of is
recorded as it is declared now.
"""

from typing import Final

from flareiac.kernel.data import Attributes, canonical
from flareiac_spark.definition.queries import identity_of

QUERY: Final = ("inputs", "steps", "step_order", "code", "outputs", "conf")
"""The attributes whose text may change while the query stays the same."""


def recorded_definition(recorded: Attributes, desired: Attributes) -> Attributes:
    """The declared definition with the recorded query in it. Only for a change that restarts nothing."""
    kept = {
        **{name: recorded[name] for name in QUERY},
        "inputs": {
            name: _input(item, _same(name, item, desired["inputs"]))
            for name, item in recorded["inputs"].items()
        },
        "outputs": {
            name: {**item, "rebuild": desired["outputs"].get(name, item)["rebuild"]}
            for name, item in recorded["outputs"].items()
        },
    }
    return (
        desired
        if canonical(kept) == canonical({name: desired[name] for name in QUERY})
        else {**desired, **kept}
    )


def _same(name: str, item: Attributes, inputs: Attributes) -> Attributes:
    """The declared input that reads what a recorded one reads, under its name or another."""
    alike = [other for other in inputs.values() if identity_of(other) == identity_of(item)]
    return inputs[name] if inputs.get(name) in alike else next(iter(alike), item)


def _input(item: Attributes, declared: Attributes) -> Attributes:
    """A recorded input with the block that declares it now, and the place where a first start would begin."""
    kept = {**item, "stream": declared.get("stream", item["stream"])} if "stream" in item else item
    if "start_from" in (item.get("source") or {}):
        return {**kept, "source": {**item["source"], "start_from": declared["source"].get("start_from")}}
    return kept
