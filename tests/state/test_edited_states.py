"""A state that was edited by hand: what is taken as one can be planned with."""

import copy
import json
import random
from pathlib import Path
from typing import Any, Final

import pytest

from flareiac.app.discovery import installed
from flareiac.app.edited_state import what_is_misshapen
from flareiac.kernel.diagnostics import Diagnostics, Failure
from flareiac.model.snapshot import decode_snapshot, encode_snapshot
from flareiac.planning.make_plan import Inputs, make_plan
from flareiac.sdk.state import Damaged
from tests.golden.case import CASES, configuration, planning_inputs, read_case

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
        holder, key = chance.choice(_places(found["resources"]))
        match chance.randrange(3):
            case 0:
                del holder[key]
            case 1:
                holder[key] = chance.choice(_VALUES)
            case _:
                other, name = chance.choice(_places(found["resources"]))
                holder[key] = copy.deepcopy(other[name]) if other is not holder else None
        if not _places(found["resources"]):
            break
    return found


def _check(inputs: Inputs, document: Any, case: Any) -> bool:
    types = installed().registry.types
    try:
        pushed = decode_snapshot(json.dumps(document).encode(), "pushed")
    except Damaged:
        return False
    if what_is_misshapen(pushed, types) or any(item.type not in types for item in pushed.resources.values()):
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
        found = configuration(case.main, folder, Diagnostics(), case.data_blocks())
        inputs = planning_inputs(case, folder, found)
        document = json.loads(encode_snapshot(inputs.snapshot))
        document.pop("digest")
        if not document["resources"]:
            continue
        for number in range(20):
            edited = _edited(document, chance)
            try:
                taken += _check(inputs, edited, case)
            except Exception as bug:
                bug.add_note(f"{path.stem}, seed {seed}, edit {number}")
                raise
    return taken


def test_few_edited_states_are_refused_or_planned(tmp_path: Path) -> None:
    assert _run(tmp_path, range(15)) > 20


@pytest.mark.slow
def test_many_edited_states_are_refused_or_planned(tmp_path: Path) -> None:
    _run(tmp_path, range(1000, 6000))
