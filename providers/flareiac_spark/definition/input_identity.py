"""The match of inputs between two definitions, and the inputs of one place that are read in ways of their
own. Pure.

A place alone does not tell two inputs apart: two streams of one folder or topic may give other values, rows
or watermarks. Nothing of this is recorded: it follows from both definitions.
"""

from collections.abc import Mapping
from itertools import pairwise, product

from flareiac.kernel.records import encode
from flareiac_spark.definition.input_definition import FilesInput, Input, StreamInput, TableInput
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.definition.queries import what_is_read


def paired_inputs(old: JobDefinition, new: JobDefinition) -> dict[str, str]:
    """The input of the old definition that each input of the new one goes on from, new name to old: the one
    of its name, else one that is read alike, else one of its place.
    """
    paired = {name: name for name in new.inputs if _of_one_place(old.inputs.get(name), new.inputs[name])}
    gone = [name for name in old.inputs if name not in new.inputs]
    come = [name for name in new.inputs if name not in old.inputs]
    for judge in (_read_alike, _of_one_place):
        for name in come:
            left = [each for each in gone if judge(old.inputs[each], new.inputs[name])]
            if name not in paired and left:
                unused = [each for each in left if each not in paired.values()]
                if unused or judge is _of_one_place:
                    paired[name] = (unused or left)[0]
    return paired


def same_input(name: str, job_input: Input, inputs: Mapping[str, Input]) -> str | None:
    """The name of the input among others that reads what this one reads, under its name or another; None
    where none does.
    """
    there = [each for each, other in inputs.items() if _of_one_place(other, job_input)]
    alike = [each for each in there if _read_alike(inputs[each], job_input)]
    return name if name in there else next(iter((*alike, *there)), None)


def input_identities(old: JobDefinition, new: JobDefinition) -> tuple[dict[str, str], dict[str, str]]:
    """Names what each input reads, whatever it is called, of both definitions. An input that goes on has one
    identity: how its reading changes is judged by itself. Of several in one place each that is read in a way
    of its own has its own.
    """
    pairs = paired_inputs(old, new)
    slots: dict[tuple[str, str], list[Input]] = {
        ("old", name): [job_input] for name, job_input in old.inputs.items()
    }
    for name, job_input in new.inputs.items():
        at = ("old", pairs[name]) if name in pairs else ("new", name)
        slots.setdefault(at, []).append(job_input)
    known: list[tuple[list[Input], str]] = []
    identities: dict[tuple[str, str], str] = {}
    for at, inputs in slots.items():
        place = what_is_read(inputs[0])
        same = [(others, identity) for others, identity in known if what_is_read(others[0]) == place]
        alike = (identity for others, identity in same if all(map(_pair_alike, product(others, inputs))))
        identity = next(alike, None)
        if identity is None:
            identity = f"{place}, read as {at[1]}" if same else place
        known.append((inputs, identity))
        identities[at] = identity
    return (
        {name: identities["old", name] for name in old.inputs},
        {
            name: identities["old", pairs[name]] if name in pairs else identities["new", name]
            for name in new.inputs
        },
    )


def _pair_alike(pair: tuple[Input, Input]) -> bool:
    return _read_alike(*pair)


def _of_one_place(old: Input | None, new: Input) -> bool:
    return old is not None and what_is_read(old) == what_is_read(new)


def _read_alike(old: Input, new: Input) -> bool:
    """True where both give the same rows, as far as columns go that both have: those that no step reads are
    in no definition.
    """
    common = {*old.columns} & {*new.columns}
    orders = [job_input.column_order for job_input in (old, new) if job_input.column_order is not None]
    return (
        _of_one_place(old, new)
        and _way(old) == _way(new)
        and all(old.columns[name] == new.columns[name] for name in common)
        and all(before == after for before, after in pairwise(orders))
    )


def _way(job_input: Input) -> object:
    """The settings by which an input is read, beside its columns."""
    match job_input:
        case StreamInput(source=source):
            plain: Mapping[str, object] = source.running()
            return [
                plain,
                job_input.bad_records,
                None if job_input.watermark is None else encode(job_input.watermark),
            ]
        case FilesInput():
            return [job_input.format, dict(job_input.options)]
        case TableInput():
            return []
