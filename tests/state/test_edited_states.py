"""A state that was edited by hand: what is taken as one can be planned with."""

import copy
import json
import random
from pathlib import Path
from typing import Any, Final

import pytest

from flareiac.app.discovery import installed
from flareiac.app.misshapen_parts import what_is_misshapen
from flareiac.kernel.diagnostics import Diagnostics, Failure
from flareiac.model.snapshot import decode_snapshot, encode_snapshot
from flareiac.model.upgrades import upgraded_snapshot
from flareiac.planning.make_plan import Inputs, make_plan
from flareiac.sdk.state import Damaged, Journal, Moment, Stored
from flareiac.state.read import understood
from tests.golden.case import CASES, main_configuration, name_of, planning_inputs, read_case

_VALUES: Final[tuple[object, ...]] = (
    None,
    -1,
    0,
    1.5,
    True,
    "",
    "x",
    "a.b",
    [],
    {},
    [None],
    {"a": 1},
    10**30,
)


def _places(data: Any) -> list[tuple[Any, Any]]:
    """Every container with every key or index in it."""
    keys: list[Any] = (
        list(data) if isinstance(data, dict) else list(range(len(data))) if isinstance(data, list) else []
    )
    return [(data, key) for key in keys] + [place for key in keys for place in _places(data[key])]


def _edited(document: Any, chance: random.Random) -> Any:
    found = copy.deepcopy(document)
    for _ in range(chance.choice((1, 1, 2))):
        # Outputs, what was dropped and the origin of the last apply beside the records
        part = found["resources"] if found["resources"] and chance.random() < 0.7 else found
        holder, key = chance.choice(_places(part))
        match chance.randrange(3):
            case 0:
                del holder[key]
            case 1:
                holder[key] = chance.choice(_VALUES)
            case _:
                other, name = chance.choice(_places(part))
                holder[key] = copy.deepcopy(other[name]) if other is not holder else None
        if not isinstance(found.get("resources"), list | dict):
            break
    return found


def _journal(before: Any, edited: Any) -> Moment:
    """The state before the edit, and a journal whose results hold the edited records."""
    records = [item for item in edited["resources"] if isinstance(item, dict)]
    entries = [
        {"kind": "begun", "apply": "a", "plan": "p", "time": 0.0, "lineage": before["lineage"]},
        *(
            {
                "kind": "result",
                "apply": "a",
                "id": str(at),
                "address": item.get("address", "x"),
                "record": item,
            }
            for at, item in enumerate(records)
        ),
        {"kind": "outputs", "apply": "a", "outputs": edited.get("outputs", {})},
    ]
    stored = Stored(content=json.dumps(before).encode(), revision="1")
    journal = Journal(records=tuple(json.dumps(item).encode() for item in entries))
    return Moment(snapshot=stored, journal=journal)


def _check(inputs: Inputs, before: Any, document: Any, case: Any, *, by_journal: bool) -> bool:
    registry = installed().registry
    try:
        if by_journal and isinstance(document.get("resources"), list):
            moment, root = _journal(before, document), str(inputs.project.root)
            pushed = understood(moment, "pushed", root, registry.types).snapshot
        else:
            stored = decode_snapshot(json.dumps(document).encode(), "pushed")
            pushed = upgraded_snapshot(stored, registry.types, "pushed")
    except Damaged:
        return False
    if what_is_misshapen(pushed, registry) or any(
        item.type not in registry.types for item in pushed.resources.values()
    ):
        return False
    from dataclasses import replace

    try:
        make_plan(replace(inputs, snapshot=pushed), case.options.planning(), Diagnostics())
    except Failure:
        return False
    return True


def _run(folder: Path, seeds: range) -> int:
    taken = 0
    cases = [path for path in CASES if read_case(path).recorded is not None]
    for seed in seeds:
        chance = random.Random(seed)
        path = chance.choice(cases)
        case = read_case(path)
        found = main_configuration(case, folder, Diagnostics())
        inputs = planning_inputs(case, folder, found)
        document = json.loads(encode_snapshot(inputs.snapshot))
        document.pop("digest")
        if not document["resources"]:
            continue
        for number in range(20):
            edited = _edited(document, chance)
            try:
                taken += _check(inputs, document, edited, case, by_journal=chance.random() < 0.3)
            except Exception as bug:
                bug.add_note(f"{name_of(path)}, seed {seed}, edit {number}")
                raise
    return taken


def test_few_edited_states_are_refused_or_planned(tmp_path: Path) -> None:
    assert _run(tmp_path, range(15)) > 20


@pytest.mark.parametrize("seed", [10_477, 11_550])
def test_what_once_ended_with_a_bug_does_so_no_more(tmp_path: Path, seed: int) -> None:
    """A job whose checkpoint is a table, and one that starts at a time that is none."""
    _run(tmp_path, range(seed, seed + 1))


@pytest.mark.slow
def test_many_edited_states_are_refused_or_planned(tmp_path: Path) -> None:
    _run(tmp_path, range(1000, 6000))
