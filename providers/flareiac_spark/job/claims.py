"""What does a job read, write and keep to itself?"""

from flareiac.kernel.data import Attributes, Reference
from flareiac.sdk.changes import Claim, Relation
from flareiac.sdk.provider import References
from flareiac_spark.job.spec import is_finite


def claims(address: str, attributes: Attributes, _references: References) -> tuple[Claim, ...]:
    """The tables of its inputs and outputs, and its checkpoint's location."""
    found: list[Claim] = []
    for name, item in attributes["inputs"].items():
        match item:
            case {"kind": "stream", "source": {"kind": "table", "table": Reference(table)} as source}:
                tolerates = tuple(kind for kind in ("deletes", "overwrites") if source[f"skip_{kind}"])
                reads = Relation.STREAMS_FROM
                found.append(Claim(subject=table, holder=address, relation=reads, reason=f"input {name}", tolerates=tolerates))
            case {"kind": "table", "table": Reference(table)}:
                found.append(Claim(subject=table, holder=address, relation=Relation.LOOKS_UP, reason=f"input {name}"))
            case _:
                pass
    for name, output in attributes["outputs"].items():
        if isinstance(output["table"], Reference):
            found.append(
                Claim(
                    subject=output["table"].address,
                    holder=address,
                    relation=Relation.WRITES,
                    reason=f"output {name}",
                    completes=is_finite(attributes) and attributes["run"] != "manual" and not attributes["stopped"],
                )
            )
    if attributes["checkpoint_location"] is not None:
        location = attributes["checkpoint_location"]
        found.append(Claim(subject=location, holder=address, relation=Relation.CHECKPOINTS_IN, reason="Both keep their offsets there."))
    return tuple(found)
