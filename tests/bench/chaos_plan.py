"""The plan of the chaos: all kills, with their places and times, that a seed decides. Knows no process."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import islice
from typing import Final, TypeVar

from tests.bench.chaos_scenarios import SCENARIOS, Scenario

_Card = TypeVar("_Card")
_TIMES: Final = 80
"""So often a point is looked ahead: a driver does not live longer."""


class Command(StrEnum):
    """The commands at whose work the driver is struck."""

    APPLY = "apply"
    MAINTAIN = "maintain"


class Strike(StrEnum):
    """The ways in which processes are struck from outside."""

    JVM = "the JVM is killed"
    DRIVER = "the driver is killed"
    END = "the driver is asked to end"
    PAUSE = "the driver is paused"
    RIVAL = "the driver is paused past its lease, and another one takes over"
    HOST = "the driver moves to another host, which is lost"
    BROKER = "the broker is killed"
    BOTH = "the broker and the driver are killed"
    DARK = "the broker and the driver are killed, and the driver starts first"
    REGISTRY = "the registry is down"
    WORKER = "a worker is killed"
    WORKERS = "all workers are killed"
    MASTER = "the master is killed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Blow:
    """A strike between commands, or ``after`` so many seconds of a command's work (of ``maintain``: once the
    driver is at it). What is not a driver comes back after ``down`` seconds. ``edited`` is what the struck
    ``apply`` brings about.
    """

    strike: Strike
    amid: Command | None = None
    after: float = 0.0
    down: float = 0.0
    edited: Scenario | None = None

    def __str__(self) -> str:
        edited = f", {self.edited.change}" if self.edited is not None else ""
        return f"{self.strike} amid {self.amid}{edited}" if self.amid is not None else str(self.strike)


BLOWS: Final = (
    None,
    Blow(strike=Strike.JVM),
    Blow(strike=Strike.JVM, amid=Command.APPLY),
    Blow(strike=Strike.JVM, amid=Command.MAINTAIN),
    Blow(strike=Strike.DRIVER),
    Blow(strike=Strike.DRIVER, amid=Command.APPLY),
    Blow(strike=Strike.DRIVER, amid=Command.MAINTAIN),
    Blow(strike=Strike.END),
    Blow(strike=Strike.END, amid=Command.MAINTAIN),
    Blow(strike=Strike.PAUSE),
    Blow(strike=Strike.RIVAL),
    Blow(strike=Strike.HOST),
    Blow(strike=Strike.HOST),
)
"""The blows that a driver survives: dealt as cards are, so that a short run too has most of them."""

MAINTAIN: Final = ("apply.intent", "apply.before-result", "apply.result")
"""Points at which ``maintain`` itself is killed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cards:
    """The cards of a round: ``blows``, so many of them in ``each`` round from the ``first`` on, and points at
    which a maintenance is killed. ``edits``: each struck ``apply`` has an edit to bring about. ``applies``:
    the numbers of them that may be killed in a round. ``apart``: the factor by which attempts of jobs fail
    more seldom. ``by_hand``: the share of rounds in which a job is stopped and started.
    """

    blows: tuple[Blow | None, ...] = BLOWS
    each: int = 1
    first: int = 1
    edits: bool = False
    applies: tuple[int, ...] = (1, 2, 3)
    apart: int = 1
    by_hand: float = 0.4
    maintenance: tuple[str | None, ...] = ("", *MAINTAIN, None)


KAFKA_CARDS: Final = Cards(
    blows=(
        *(Blow(strike=Strike.BROKER) for _ in range(9)),
        *(Blow(strike=Strike.BROKER, amid=Command.APPLY) for _ in range(3)),
        *(
            Blow(strike=strike, amid=amid)
            for strike in (Strike.DRIVER, Strike.BOTH)
            for amid in (None, None, None, Command.APPLY)
        ),
        Blow(strike=Strike.DARK),
        Blow(strike=Strike.JVM),
        Blow(strike=Strike.REGISTRY),
    ),
    each=9,
    first=0,
    edits=True,
    applies=(0, 1),
    apart=4,
    by_hand=0.15,
    maintenance=("", *(None for _ in range(8))),
)
"""Mostly kills of the driver and of the broker."""

CLUSTER_CARDS: Final = Cards(
    blows=(
        *(
            Blow(strike=strike, amid=amid)
            for strike in (Strike.WORKER, Strike.MASTER, Strike.DRIVER, Strike.JVM)
            for amid in (None, Command.APPLY)
        ),
        Blow(strike=Strike.WORKERS),
        Blow(strike=Strike.WORKER),
        Blow(strike=Strike.END),
        Blow(strike=Strike.RIVAL),
        Blow(strike=Strike.HOST),
    ),
    each=4,
    first=0,
    edits=True,
    applies=(1, 2),
    by_hand=0.3,
    maintenance=("", *(None for _ in range(5))),
)
"""The cards of a cluster: its processes, the driver and commands are struck about equally often."""

OWN_DEATHS: Final = (
    "driver.lease-taken",
    "driver.maintenance-begun",
    "driver.stopping",
    "driver.maintenance-done-before-result",
)
"""Points at which a driver dies that belong to no job."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyKill:
    """A scenario is edited, and the apply that brings it about is killed at a named point, at its n-th
    time.
    """

    scenario: Scenario
    point: str
    times: int

    @property
    def spelled(self) -> str:
        return f"{self.point}:{self.times}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """``files`` land before, ``meanwhile`` more files land after each kill; ``by_hand`` is stopped and
    started again. Of ``blows``, those amid no command come first.

    ``maintain``: the point at which a maintenance of all tables is killed, "" for one that is not, None for
    none but a struck one.
    """

    files: int
    meanwhile: int
    kills: tuple[ApplyKill, ...]
    blows: tuple[Blow, ...]
    by_hand: Scenario | None
    maintain: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """The events inside a driver: points at which attempts of jobs fail, and the one at which it dies (empty:
    none).
    """

    fails: str
    dies: str


class Chaos:
    """A seed's decisions: the same for the same seed and scenarios, round by round and life by life."""

    def __init__(
        self,
        seed: int,
        scenarios: Sequence[Scenario] = SCENARIOS,
        *,
        mild: bool = False,
        cards: Cards | None = None,
    ) -> None:
        self._seed, self._scenarios, self._mild = seed, scenarios, mild
        self._cards = cards = cards or Cards()
        changed = [item for item in scenarios if item.change is not None]
        self._edits = _deck(f"{seed}/edits", changed if cards.edits else ())
        self._applies = _deck(
            f"{seed}/applies", [(item, point) for item in scenarios for point in item.apply_points]
        )
        self._held: list[tuple[Scenario, str]] = []
        self._blows = _deck(f"{seed}/blows", cards.blows)
        self._maintenance = _deck(f"{seed}/maintain", cards.maintenance)
        self._deaths = {
            True: _deck(f"{seed}/deaths", OWN_DEATHS),
            False: _deck(f"{seed}/deaths of jobs", self._points()),
        }

    def rounds(self) -> Iterator[Round]:
        """Without end."""
        number = 0
        while True:
            yield self._round(random.Random(f"{self._seed}/round/{number}"), number)
            number += 1

    def lives(self) -> Iterator[Life]:
        """The lives of one driver after the other, without end."""
        number = 0
        while True:
            chance = random.Random(f"{self._seed}/life/{number}")
            yield Life(
                fails=self._fails(chance),
                dies="" if self._mild or number % 2 else self._dies(chance, own=number % 4 == 2),
            )
            number += 1

    def _round(self, chance: random.Random, number: int) -> Round:
        picked: dict[str, ApplyKill] = {}
        drawn, self._held = [*self._held, *islice(self._applies, chance.choice(self._cards.applies))], []
        for scenario, point in drawn:
            if scenario.name in picked:
                self._held.append((scenario, point))
            else:
                picked[scenario.name] = ApplyKill(
                    scenario=scenario, point=point, times=self._times(chance, point)
                )
        spared = self._mild or number < self._cards.first
        blows = [] if spared else list(islice(self._blows, self._cards.each))
        by_hand = chance.choice(self._scenarios) if chance.random() < self._cards.by_hand else None
        return Round(
            files=chance.randint(2, 3),
            meanwhile=chance.randint(0, 2),
            kills=tuple(picked.values()),
            blows=tuple(self._timed(chance, blow) for blow in blows if blow is not None),
            by_hand=by_hand if number else None,
            maintain=next(self._maintenance) if number else None,
        )

    def _timed(self, chance: random.Random, blow: Blow) -> Blow:
        edited = next(self._edits, None) if blow.amid is Command.APPLY else None
        timed = replace(blow, after=chance.uniform(0.5, 6), edited=edited)
        if blow.strike in (Strike.WORKER, Strike.WORKERS, Strike.MASTER):
            return replace(timed, down=chance.uniform(0.5, 20))
        if blow.strike not in (Strike.BROKER, Strike.BOTH, Strike.DARK, Strike.REGISTRY):
            return timed
        long = chance.random() < 0.15
        return replace(timed, down=chance.uniform(15, 40) if long else chance.uniform(0.5, 8))

    def _times(self, chance: random.Random, point: str) -> int:
        """An apply has few operations, and one snapshot."""
        return (
            chance.choice((1, 1, 1, 2))
            if point in ("apply.intent", "apply.before-result", "apply.result")
            else 1
        )

    def _points(self) -> list[str]:
        return [point for item in self._scenarios for point in item.points]

    def _fails(self, chance: random.Random) -> str:
        """The points at which jobs fail: each point of a job is reached about as often, so that a job with
        many is interrupted less at each.
        """
        apart = self._cards.apart
        found = [f"driver.stopping:{times}" for times in _spaced(chance, 3 * apart)]
        for item in self._scenarios:
            for point in item.points:
                found += [f"{point}:{times}" for times in _spaced(chance, len(item.points) * apart)]
        return ",".join(found)

    def _dies(self, chance: random.Random, *, own: bool) -> str:
        point = next(self._deaths[own])
        seldom = point.startswith(
            ("driver.before-start", "driver.after-start", "driver.maintenance", "driver.stopping")
        )
        return f"{point}:{1 if point == 'driver.lease-taken' else chance.randint(1, 2 if seldom else 12)}"


def _spaced(chance: random.Random, apart: int) -> list[int]:
    at, found = chance.randint(1, 5 * apart), list[int]()
    while at < _TIMES:
        found.append(at)
        at += chance.randint(apart, 4 * apart)
    return found


def _deck(seed: str, cards: Sequence[_Card]) -> Iterator[_Card]:
    """The cards in an order of chance, again and again: none is left out for long."""
    chance = random.Random(seed)
    while cards:
        yield from chance.sample(cards, len(cards))
