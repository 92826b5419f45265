"""The changes of the matrix around records that cannot be read, in files and in topics."""

from collections.abc import Iterator
from functools import partial
from itertools import permutations

from tests.bench.matrix_change import Change, Happening, Verdict, Way, bad_records, each, reading, then, with_

_ACTIONS = ("fail", "null", "drop", "bad")
"""The last one is quarantine, by the name of its table."""
_MIXED = Verdict.RESULTS_CHANGE


def bad_changes() -> Iterator[Change]:
    """Every cell's change."""
    yield from _actions()
    yield from _tables()
    yield from _on_their_way()


def _actions() -> Iterator[Change]:
    for before, after in permutations(_ACTIONS, 2):
        place = with_(place=_place(before, after))
        given, edit = then(place, bad_records(before)), bad_records(after)
        name = f"{_told(before)} to {_told(after)}"
        verdict = Verdict.TOLD if before == "null" else Verdict.RESTART
        yield from each(name, "plain", "files:append kafka:append", edit, verdict, given=given)
        yield from each(name, "plain", "kafka:foreach_batch", edit, verdict, given=given)
        verdict = _MIXED if "null" in (before, after) else Verdict.RESTART
        ways = _ways(after) if verdict is _MIXED else (Way.APPLY,)
        yield from each(name, "sum", "files:complete kafka:complete", edit, verdict, ways, given=given)
        if "null" not in (before, after) and "fail" in (before, after):
            # By the older rules a job that fails judges a record by the columns that its steps read alone
            older = then(given, reading("reading = 1"))
            name = f"{name}, older rules"
            yield from each(name, "sum", "files:complete", edit, _MIXED, _ways(after), given=older)


def _ways(after: str) -> tuple[Way, ...]:
    """The ways out; a job that fails on a bad record cannot read all again."""
    return (Way.TOKEN,) if after == "fail" else (Way.TOKEN, Way.EARLIEST)


def _tables() -> Iterator[Change]:
    given, edit = then(with_(place="spoiled"), bad_records("bad")), bad_records("kept")
    ways = (Way.TOKEN, Way.EARLIEST)
    where = "files:append kafka:append"
    yield from each("quarantine table", "plain", where, edit, _MIXED, ways, given=given)
    yield from each("quarantine table", "sum", "kafka:complete", edit, _MIXED, (Way.TOKEN,), given=given)


def _on_their_way() -> Iterator[Change]:
    """A batch was planned before the change and is done again after it."""
    where = "files:append kafka:append"
    for after in ("null", "drop", "bad"):
        given = then(with_(place="poisoned"), with_(failures=1))
        poisoned = partial(each, given=given, event=Happening.POISONED)
        edit, name = bad_records(after), f"fail to {_told(after)}, bad record in flight"
        yield from poisoned(name, "plain", where, edit, Verdict.RESTART)
        verdict, ways = (_MIXED, (Way.TOKEN,)) if after == "null" else (Verdict.RESTART, (Way.APPLY,))
        yield from poisoned(name, "sum", "kafka:complete", edit, verdict, ways)
    for before, after in (("null", "drop"), ("drop", "null"), ("drop", "bad"), ("bad", "drop")):
        given = then(with_(place="spoiled"), bad_records(before))
        in_flight = partial(each, given=given, event=Happening.IN_FLIGHT, paused=True)
        edit, name = bad_records(after), f"{_told(before)} to {_told(after)}, batch in flight"
        yield from in_flight(name, "plain", where, edit, Verdict.RESTART)
        yield from in_flight(name, "plain", "kafka:foreach_batch", edit, Verdict.RESTART)
    given = then(with_(place="spoiled"), bad_records("bad"))
    yield from each(
        "quarantine table, batch in flight",
        "plain",
        where,
        bad_records("kept"),
        _MIXED,
        (Way.TOKEN,),
        given=given,
        event=Happening.IN_FLIGHT,
        paused=True,
    )


def _place(before: str, after: str) -> str:
    """The place of the bad records: none on which the job fails."""
    if "fail" not in (before, after):
        return "spoiled"
    return "spoiled_last" if before == "fail" else "spoiled_first"


def _told(action: str) -> str:
    return "quarantine" if action == "bad" else action
