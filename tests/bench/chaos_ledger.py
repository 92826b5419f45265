"""The ledger of the chaos: its events and their results. Counts; knows no process and no plan."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from tests.support.command_line import Ended

EVERYTHING: Final = "everything"
"""Stands for a scenario where a kill hits all of them at once."""

_WORK_LEFT: Final = 2
"""The exit code of ``plan -detailed-exitcode`` while something is to be done."""
_VICTIMS: Final = (
    ("the broker and the driver", "both"),
    ("the broker", "broker"),
    ("the driver is killed", "driver"),
    ("the JVM is killed", "driver"),
    ("driver", "driver"),
    ("a worker", "worker"),
    ("all workers", "worker"),
    ("the master", "master"),
)
"""The beginning of each kind of kill, and its victim; other kinds end an attempt or a command."""
_UPKEEP: Final = re.compile(r"\((.+)\): Maintenance complete")


@dataclass(slots=True)
class Tally:
    """The counts of one scenario: kills by place, rows of its tables, and faults."""

    kills: "Counter[str]" = field(default_factory=Counter)
    expected: int = 0
    found: int = 0
    missing: int = 0
    surplus: int = 0
    twice: int = 0

    @property
    def differing(self) -> int:
        return self.missing + self.surplus + self.twice


@dataclass(slots=True)
class Ledger:
    """Counts of a run. ``kinds``: kills by what was killed; ``compared``: how often a table was found equal,
    row by row; ``copies``: records of a topic that a job wrote more than once.
    """

    tallies: Mapping[str, Tally]
    kinds: "Counter[str]" = field(default_factory=Counter)
    commands: "Counter[str]" = field(default_factory=Counter)
    maintenance: "Counter[str]" = field(default_factory=Counter)
    unreached: "Counter[str]" = field(default_factory=Counter)
    copies: "Counter[str]" = field(default_factory=Counter)
    drivers: int = 0
    rounds: int = 0
    compared: int = 0

    @property
    def kills(self) -> int:
        return self.kinds.total()

    @property
    def victims(self) -> "Counter[str]":
        """The number of deaths of drivers, brokers or both."""
        found: Counter[str] = Counter()
        for kind, times in self.kinds.items():
            victim = next((victim for begin, victim in _VICTIMS if kind.startswith(begin)), None)
            if victim is not None:
                found[victim] += times
        return found

    def kill(self, scenario: str, what: str, kind: str) -> None:
        """Something was killed: ``what`` tells the point, ``kind`` that which died there."""
        self.tallies[scenario].kills[f"{what} ({kind})"] += 1
        self.kinds[kind] += 1

    def strike(self, what: str) -> None:
        """Something was done to processes from outside."""
        self.tallies[EVERYTHING].kills[what] += 1
        self.kinds[what] += 1

    def command(self, word: str, done: Ended) -> None:
        """A command ended."""
        self.commands[f"{word}: {_outcome(word, done)}"] += 1
        self.maintenance.update(_UPKEEP.findall(done.text))

    def lines(self) -> Iterator[str]:
        """The whole of it for people."""
        for name, tally in self.tallies.items():
            for point, times in sorted(tally.kills.items()):
                yield f"{name:14} {point:60} {times:4}"
        parts = {
            "kills": self.kinds,
            "commands": self.commands,
            "maintained": self.maintenance,
            "not reached": self.unreached,
        }
        for head, counts in parts.items():
            for what, times in sorted(counts.items()):
                yield f"{head:14} {what:60} {times:4}"

    def detail(self) -> dict[str, object]:
        """The sums."""
        tallies = self.tallies.values()
        return {
            "kills": self.kills,
            "by kind": dict(sorted(self.kinds.items())),
            "commands": dict(sorted(self.commands.items())),
            "maintained": dict(sorted(self.maintenance.items())),
            "rounds": self.rounds,
            "drivers": self.drivers,
            "tables compared": self.compared,
            "rows expected": sum(tally.expected for tally in tallies),
            "rows found": sum(tally.found for tally in tallies),
            "rows missing": sum(tally.missing for tally in tallies),
            "rows too many": sum(tally.surplus for tally in tallies),
            "batches committed twice": sum(tally.twice for tally in tallies),
            "driver and broker killed": dict(sorted(self.victims.items())),
            **({"records written again": dict(self.copies)} if self.copies else {}),
        }


def _outcome(word: str, done: Ended) -> str:
    if done.killed:
        return "killed"
    if done.code == 0:
        return "nothing left to do" if word == "plan" else "done"
    return "work left" if word == "plan" and done.code == _WORK_LEFT else "ended with an error"
