"""The entrances of single words: addresses, globs, what explain is asked, types, durations, sizes, names."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Final

from flareiac.app.discovery import installed
from flareiac.app.explain import everything, explain
from flareiac.app.state.recorded import addresses, connection_of, recorded
from flareiac.app.state_place.selection import checked_name
from flareiac.kernel.addresses import parse_address
from flareiac.kernel.column_types import type_of
from flareiac.kernel.diagnostics import Failure
from flareiac.model.snapshot import Snapshot
from flareiac.sdk.name_patterns import fault, is_common
from flareiac.sdk.validators import parse_duration, parse_size
from flareiac_iceberg.format.types import table_type
from flareiac_iceberg.maintenance.kinds.compaction.where_clause import named_columns
from flareiac_spark.runtime.coordinates import parse_coordinate
from tests.golden.case import CASES, read_case, recorded_state
from tests.mutations.entrances.entrance import Bug, Entrance, Gate, check
from tests.mutations.entrances.language import WORDS
from tests.mutations.mutate import ANY_TEXT, damaged

_ADDRESSES: Final = (
    "table.t",
    'table.t["a"]',
    "table.t[0]",
    "table.*",
    "*",
    "module.m.job.j",
    'data.table.x["é\\"q"]',
    "job.j.outputs",
    "table.t@9c12d441-03fe-4693-9a96-a0705ddf69c1",
    "[a-",
    "table.[!a]*",
    "state",
    "table.column.type",
    "jsondecode",
    "FIX099",
    "spark.sql.*",
    "table.t[99999999999]",
    "a" * 300,
)


def _open_words(root: Path) -> Gate:
    case = next(case for case in map(read_case, CASES) if case.recorded is not None)
    state = recorded_state(case, root)
    known = (*_ADDRESSES, *WORDS, *sorted(everything())[::7], *state.resources)
    uses = _uses(state)

    def make(choose: random.Random) -> tuple[str, str]:
        word = choose.choice(known).encode()
        if choose.random() < 0.85:
            word = damaged(word, choose, [choose.choice(known).encode()], ANY_TEXT)[1]
        # Explaining reads all pages, which takes a hundred times as long as the others.
        use = "explain" if choose.random() < 0.005 else choose.choice(list(uses))
        return use, word[:50_000].decode("utf-8", "surrogateescape")

    def enter(given: tuple[str, str]) -> None:
        use, word = given
        try:
            explain(word) if use == "explain" else uses[use](word)
        except Failure as failure:
            check(failure.diagnostics)

    return Gate(make=make, enter=enter)


def _uses(state: Snapshot) -> dict[str, Callable[[str], object]]:
    """Functions that take a word. A type that does not exist is refused by a ``ValueError``."""
    return {
        "address": _address,
        "glob": lambda word: addresses(state, [word]),
        "recorded": lambda word: recorded(state, word),
        "connection": lambda word: connection_of(state, word, installed().registry.types),
        "workspace": checked_name,
        "duration": parse_duration,
        "size": parse_size,
        "coordinate": parse_coordinate,
        "pattern": lambda word: (fault(word), is_common(word)),
        "where": named_columns,
        "iceberg type": lambda word: _or_value_error(table_type, word),
        "column type": lambda word: _or_value_error(type_of, word),
    }


def _address(word: str) -> None:
    """An address is spelled as it was read."""
    found = parse_address(word)
    if found is not None and parse_address(str(found)) != found:
        raise Bug(f"{word!r} is read as {found!r}, which is read as {parse_address(str(found))!r}")


def _or_value_error(parse: Callable[[str], object], word: str) -> None:
    try:
        parse(word)
    except ValueError:
        return


ENTRANCES: Final = (Entrance(name="words", share=130_000, open=_open_words),)
