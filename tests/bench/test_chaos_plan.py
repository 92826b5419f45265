"""The plan that a seed of the chaos makes and the counts of its report, without a process."""

import json
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest

from tests.bench.chaos import CLUSTER_SCENARIOS, chaos
from tests.bench.chaos_kafka_scenarios import KAFKA_SCENARIOS
from tests.bench.chaos_lake import Lake
from tests.bench.chaos_ledger import EVERYTHING, Ledger, Tally
from tests.bench.chaos_plan import (
    BLOWS,
    CLUSTER_CARDS,
    KAFKA_CARDS,
    MAINTAIN,
    OWN_DEATHS,
    Blow,
    Chaos,
    Command,
    Strike,
)
from tests.bench.chaos_rows import Landing
from tests.bench.chaos_run import Course, at_least_once
from tests.bench.chaos_scenarios import SCENARIOS, Change
from tests.support.command_line import Ended

SEEDS = (1, 3, 2026)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_seed_decides_the_same_each_time(seed: int) -> None:
    one, other = Chaos(seed), Chaos(seed)
    assert list(islice(one.rounds(), 30)) == list(islice(other.rounds(), 30))
    assert list(islice(one.lives(), 30)) == list(islice(other.lives(), 30))


@pytest.mark.parametrize("seed", SEEDS)
def test_no_strike_is_left_out_for_longer_than_the_deck_is(seed: int) -> None:
    rounds = list(islice(Chaos(seed).rounds(), 1 + len(BLOWS)))
    assert {blow.strike for item in rounds for blow in item.blows} == {
        blow.strike for blow in BLOWS if blow is not None
    }
    assert {item.maintain for item in rounds} >= {"", *MAINTAIN}


@pytest.mark.parametrize("seed", SEEDS)
def test_brokers_and_drivers_die_alone_together_and_around_each_kind_of_edit(seed: int) -> None:
    chaos = Chaos(seed, KAFKA_SCENARIOS, cards=KAFKA_CARDS)
    rounds = list(islice(chaos.rounds(), 12))
    blows = [blow for item in rounds for blow in item.blows]
    assert {blow.strike for blow in blows} == {blow.strike for blow in KAFKA_CARDS.blows if blow is not None}
    assert {blow.edited.change for blow in blows if blow.edited is not None} == {
        Change.PARTITIONS,
        Change.GENERATION,
        Change.RATE,
        Change.SQL,
    }
    assert all(blow.down > 0 for blow in blows if blow.strike in (Strike.BROKER, Strike.BOTH, Strike.DARK))


@pytest.mark.parametrize("seed", SEEDS)
def test_every_process_of_a_cluster_dies_between_commands_and_amid_them(seed: int) -> None:
    chaos = Chaos(seed, CLUSTER_SCENARIOS, cards=CLUSTER_CARDS)
    blows = [blow for item in islice(chaos.rounds(), 4) for blow in item.blows]
    killed = (Strike.WORKER, Strike.MASTER, Strike.DRIVER, Strike.JVM)
    assert {(blow.strike, blow.amid) for blow in blows} >= {
        (strike, amid) for strike in killed for amid in (None, Command.APPLY)
    }
    assert all(blow.down > 0 for blow in blows if blow.strike in (Strike.WORKER, Strike.MASTER))


def test_deaths_of_drivers_and_brokers_are_counted_apart() -> None:
    ledger = Ledger(tallies={"keyed": Tally(), EVERYTHING: Tally()})
    ledger.kill("keyed", "apply.intent, new generation", "apply")
    ledger.kill("keyed", "driver.after-batch", "attempt of a job")
    ledger.kill("keyed", "driver.in-merge", "driver")
    for blow in (
        Blow(strike=Strike.BROKER, amid=Command.APPLY),
        Blow(strike=Strike.BOTH),
        Blow(strike=Strike.DARK),
        Blow(strike=Strike.DRIVER),
        Blow(strike=Strike.REGISTRY),
    ):
        ledger.strike(str(blow))
    assert ledger.detail()["driver and broker killed"] == {"both": 2, "broker": 1, "driver": 2}


@pytest.mark.parametrize("seed", SEEDS)
def test_drivers_die_at_points_of_their_own_too(seed: int) -> None:
    died = {life.dies.rpartition(":")[0] for life in islice(Chaos(seed).lives(), 4 * len(OWN_DEATHS))}
    assert died >= set(OWN_DEATHS)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_point_of_an_apply_gets_its_turn(seed: int) -> None:
    wanted = {(item.name, point) for item in SCENARIOS for point in item.apply_points}
    drawn = [
        (kill.scenario.name, kill.point)
        for item in islice(Chaos(seed).rounds(), 2 * len(wanted))
        for kill in item.kills
    ]
    assert set(drawn) == wanted


def test_a_mild_course_strikes_no_driver() -> None:
    mild = Chaos(1, mild=True)
    assert not any(item.blows for item in islice(mild.rounds(), 40))
    assert not any(life.dies for life in islice(mild.lives(), 40))


def test_the_report_tells_what_took_place() -> None:
    ledger = Ledger(tallies={"plain": Tally(expected=5, found=5, missing=1, surplus=1), EVERYTHING: Tally()})
    ledger.kill("plain", "apply.intent, changed SQL", "apply")
    ledger.strike("the JVM is killed amid maintain")
    ledger.command("plan", Ended(code=2, out="", err=""))
    ledger.command("apply", Ended(code=-9, out="", err=""))
    ledger.command(
        "maintain", Ended(code=0, out="table.plain (compaction): Maintenance complete after 2s\n", err="")
    )
    found = ledger.detail()
    assert found["kills"] == 2
    assert found["by kind"] == {"apply": 1, "the JVM is killed amid maintain": 1}
    assert found["commands"] == {"plan: work left": 1, "apply: killed": 1, "maintain: done": 1}
    assert found["maintained"] == {"compaction": 1}
    assert (found["rows missing"], found["rows too many"]) == (1, 1), (
        "a row lost and one doubled do not make up for each other"
    )
    assert Counter(line.split()[0] for line in ledger.lines()) == {
        "plain": 1,
        EVERYTHING: 1,
        "kills": 2,
        "commands": 3,
        "maintained": 1,
    }


def _stopped_early(course: Course, _kills: int) -> None:
    course.ledger.kill("plain", "driver.after-batch", "attempt of a job")
    course.ledger.tallies["plain"].expected = course.ledger.tallies["plain"].found = 7


def test_the_sums_are_told_also_when_the_course_breaks_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(course: Course, kills: int) -> None:
        _stopped_early(course, kills)
        raise SystemExit(143)

    monkeypatch.setattr(Course, "run", broken)
    with pytest.raises(SystemExit):
        list(chaos(tmp_path, 5, 1))
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["by kind"] == {"attempt of a job": 1}


def test_the_last_figure_holds_the_sums(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Course, "run", _stopped_early)
    last = list(chaos(tmp_path, 5, 1))[-1]
    assert (last.value, last.detail["kills"], last.detail["rows expected"], last.detail["rows landed"]) == (
        0,
        1,
        7,
        0,
    )


def test_a_topic_may_have_copies_and_nothing_less_or_else() -> None:
    wanted = Counter({("once",): 1, ("sent twice",): 2, ("lost",): 1})
    copies = Counter({("once",): 3, ("sent twice",): 1, ("unknown",): 1})
    found = at_least_once(copies, wanted)
    assert wanted - found == Counter({("sent twice",): 1, ("lost",): 1})
    assert found - wanted == Counter({("unknown",): 1})


@pytest.mark.parametrize(("codes", "wrong"), [([0], 0), ([1, 0], 0), ([1] * 6, 1)])
def test_the_last_maintenance_must_come_to_its_end(
    codes: list[int], wrong: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A driver may die of what was planned for it; the next run finishes what is left."""
    course = Course(Lake(tmp_path), Chaos(1), SCENARIOS, Landing(tmp_path, 1))
    ends = iter(codes)

    def run(_lake: Lake, *words: str, **_variables: str) -> Ended:
        return Ended(code=next(ends) if words[0] == "maintain" else 0, out="", err="")

    monkeypatch.setattr(Lake, "run", run)
    course.maintain_in_peace()
    assert (list(ends), len(course.wrong)) == ([], wrong)
    assert sum(times for what, times in course.ledger.commands.items() if what.startswith("maintain")) == len(
        codes
    )
