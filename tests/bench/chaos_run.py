"""Kills what the plan of the chaos says, has ``apply`` mend it each time, and compares what is there with
what must be.
"""

import contextlib
import json
import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from tests.bench.chaos_cluster import Machines
from tests.bench.chaos_lake import PATIENCE, Content, Lake, inherited, is_driver, wait_until
from tests.bench.chaos_ledger import EVERYTHING, Ledger, Tally
from tests.bench.chaos_plan import ApplyKill, Blow, Chaos, Command, Round, Strike
from tests.bench.chaos_rows import Feed
from tests.bench.chaos_scenarios import LAKE, Cells, Edits, Scenario, Target, without_job
from tests.bench.chaos_topics import Topics
from tests.bench.figure import remark
from tests.support.command_line import Ended

_QUIET: Final = 180.0
"""Seconds in which no job was at work: what was not read by then never will be."""
_DEADLINE: Final = 2400.0
_APPLIES: Final = 6
"""One must converge; a kill may spoil each of the others."""
_APPLY: Final = ("apply", "-auto-approve", "-maintenance=exclude")
_MAINTAIN: Final = ("maintain", "-auto-approve")
_MAY_MOVE: Final = (
    subprocess.run(("unshare", "--uts", "true"), capture_output=True, check=False).returncode == 0
)
"""True if this user may give a process another host's name."""
_UNSEEN: Final = "driver.lease-taken"
_REFUTED: Final = "FIK470"
"""The code of a text that Spark refutes; nothing else has happened."""


class Course:
    """``ledger`` counts by the name of a scenario what is killed and what is found. With ``topics`` the
    broker is killed too, with ``machines`` the master and the workers of a cluster.
    """

    def __init__(
        self,
        lake: Lake,
        chaos: Chaos,
        scenarios: Sequence[Scenario],
        feed: Feed,
        topics: Topics | None = None,
        machines: Machines | None = None,
    ) -> None:
        self.lake, self.feed, self.topics, self.machines = lake, feed, topics, machines
        self.scenarios = scenarios
        self.ledger = Ledger(
            tallies={name: Tally() for name in (*(item.name for item in scenarios), EVERYTHING)}
        )
        self.wrong: list[str] = []
        self._begun = time.monotonic()
        self._rounds, self._lives = chaos.rounds(), chaos.lives()
        self._edits = {item.name: Edits() for item in scenarios}
        self._broken: set[str] = set()
        self._life = next(self._lives)
        self._id: str | None = None
        self._up = False
        self._dies = ""
        self._struck = False
        self._kept: dict[str, str] = {}
        self._hard = 0
        self._of = {point.partition("@")[2]: item.name for item in scenarios for point in item.points}

    def run(self, kills: int) -> None:
        """Until so many kills are done; then everything is brought to rest and compared once more."""
        try:
            self._set_up()
            while self._kills() < kills and len(self._broken) < len(self.scenarios):
                started, plan = time.monotonic(), next(self._rounds)
                self._round(plan)
                self.ledger.rounds += 1
                done = f"round {self.ledger.rounds}: {self._kills()} kills, {self.feed.figures}"
                blows = "; ".join(map(str, plan.blows)) or "nothing"
                remark(f"{done}, {time.monotonic() - started:.0f} s ({blows})")
            self.feed.land(1)
            self._converge()
            self._compare()
            self.maintain_in_peace()
            self._compare()
        finally:
            self.lake.close()
            self.feed.close()
            if self.machines is not None:
                self.machines.close()
                doubled = dict.fromkeys(self.machines.doubled)
                self.wrong += [f"two applications at once: {pair}" for pair in doubled]

    def _kills(self) -> int:
        """With topics, those of drivers and brokers alone."""
        return self.ledger.kills if self.topics is None else self.ledger.victims.total()

    # A round

    def _set_up(self) -> None:
        lake = LAKE if self.machines is None else self.machines.lake
        self.lake.write("lake", lake + self.feed.declared)
        self._in_peace("init")
        for item in self.scenarios:
            self.lake.write(item.name, without_job(item.declared(Edits())))
        self._in_peace(*_APPLY)
        for target in (target for item in self.scenarios for target in item.targets if target.branch):
            self.lake.lay_branch(target.table)
        for item in self.scenarios:
            self.lake.write(item.name, item.declared(Edits()))
        self._in_peace("init")  # jobs need jars too
        self.feed.land(2)
        self._converge()

    def _in_peace(self, *words: str) -> None:
        done = self.lake.run(*words)
        if done.code:
            raise RuntimeError(f"{words} ended with {done.code}:\n{done.text[-6000:]}")

    def _round(self, plan: Round) -> None:
        self.feed.resume()
        self.feed.land(plan.files)
        if plan.by_hand is not None:
            self._by_hand(plan.by_hand)
        for kill in plan.kills:
            self._edit(kill.scenario)
        self._strike_all([blow for blow in plan.blows if blow.amid is None])
        for kill in plan.kills:
            self._killed_apply(kill)
            self.feed.land(plan.meanwhile)
        for blow in plan.blows:
            if blow.amid is not None:
                self._struck_command(blow, blow.amid)
        if plan.maintain is not None:
            self._maintain(plan.maintain)
        self._converge()
        self._compare()

    def _strike_all(self, blows: Sequence[Blow]) -> None:
        """One after the other; where there are several, what died before is brought back first."""
        for at, blow in enumerate(blows):
            if at:
                self._serve_again()
                time.sleep(blow.after)
            self._strike(blow, str(blow))

    def _serve_again(self) -> None:
        """A driver that died is started with what it had, as a service manager does."""
        if self.lake.driver_pid() is not None:
            return
        if not self._kept:
            self._bring_back()
            return
        self._collect()
        self.lake.serve(self._kept)
        if not wait_until(lambda: self.lake.driver_pid() is not None, PATIENCE):
            self._complain("a driver that was started again does not lead")
        self._collect()

    def _bring_back(self) -> None:
        """A driver is there, unless it died in this apply too."""
        if self.lake.driver_pid() is None:
            self._command(*_APPLY, **self._variables())

    def _edit(self, scenario: Scenario) -> None:
        assert scenario.change is not None, "only what can be changed is killed while it is"
        self._edits[scenario.name] = edits = self._edits[scenario.name].and_one(scenario.change)
        self.lake.write(scenario.name, scenario.declared(edits))

    def _killed_apply(self, kill: ApplyKill) -> None:
        done = self._command(*_APPLY, FLAREIAC_KILL_AT=kill.spelled, FLAREIAC_FAIL_AT=self._life.fails)
        if done.killed:
            self.ledger.kill(kill.scenario.name, f"{kill.point}, {kill.scenario.change}", "apply")
        else:
            self.ledger.unreached[f"{kill.spelled} (apply)"] += 1

    def _maintain(self, point: str) -> Ended:
        """All that is due, killed at a point; unkilled it must come to its end unless the driver died of
        something else.
        """
        hard = self._hard
        done = self._command(*_MAINTAIN, FLAREIAC_KILL_AT=point, FLAREIAC_FAIL_AT=self._life.fails)
        if done.killed:
            self.ledger.kill(EVERYTHING, point, "maintain")
        elif point:
            self.ledger.unreached[f"{point} (maintain)"] += 1
        if done.code and not done.killed and self._hard == hard and self.lake.driver_pid() is not None:
            self._complain(f"maintain ended with {done.code}, and no driver died:\n{done.text[-4000:]}")
        return done

    def maintain_in_peace(self) -> None:
        """Finishes in the end the maintenance that the kills left half done."""
        for _ in range(_APPLIES):
            self._converge()
            if self._maintain("").code == 0:
                return
        self.wrong.append(f"{_APPLIES} runs of maintain did not come to an end")

    def _by_hand(self, scenario: Scenario) -> None:
        for word in ("stop", "start"):
            self._command(word, scenario.job)
            self.feed.land(1)

    # From outside

    def _struck_command(self, blow: Blow, amid: Command) -> None:
        """The driver is struck while a command is at work."""
        if blow.edited is not None:
            self._bring_back()
            self._edit(blow.edited)
        variables, begun = self._variables(), self.lake.maintenance_begun()
        with self.lake.begin(*(_APPLY if amid is Command.APPLY else _MAINTAIN), **variables) as command:
            if amid is Command.MAINTAIN:
                wait_until(
                    lambda: command.poll() is not None or self.lake.maintenance_begun() != begun, PATIENCE
                )
            with contextlib.suppress(subprocess.TimeoutExpired):
                command.wait(blow.after)
            ended = "" if command.poll() is None else ", which had ended"
            self._collect(variables.get("FLAREIAC_KILL_AT", ""))
            self._strike(blow, f"{blow}{ended}", variables.get("FLAREIAC_KILL_AT", ""))
            said = command.communicate()[0]
        self._collect(variables.get("FLAREIAC_KILL_AT", ""))
        self._look(Ended(code=command.returncode, out=said, err=""), amid)

    def _strike(self, blow: Blow, shown: str, kill_at: str = "") -> None:
        """``kill_at``: with what the command at work starts a driver again, perhaps before this returns."""
        strike = Strike.DRIVER if blow.strike is Strike.HOST and not _MAY_MOVE else blow.strike
        self._tell(f"{shown}, for {blow.down:.1f} s" if blow.down else shown)
        if strike in (Strike.BROKER, Strike.REGISTRY, Strike.WORKER, Strike.WORKERS, Strike.MASTER):
            self._outage(blow)
            self.ledger.strike(shown)
            self._collect(kill_at)
            return
        pid, application = self.lake.driver_pid(), self.lake.application()
        if pid is None:
            return
        self._struck = True
        with contextlib.suppress(OSError):  # it may be dying by itself
            self._kept = inherited(pid)
        match strike:
            case Strike.BOTH | Strike.DARK:
                self._strike_both(blow, pid)
            case Strike.JVM:
                jvm = application.get("jvm_pid")
                if not isinstance(jvm, int):
                    return
                self._signal(jvm, signal.SIGKILL)
                self._await_end(pid, strike)
            case Strike.DRIVER:
                self._signal(pid, signal.SIGKILL)
                self._await_end(pid, strike)
            case Strike.END:
                self._signal(pid, signal.SIGTERM)
                self._await_end(pid, strike)
            case Strike.PAUSE:
                self._pause(pid)
                self._struck = False
            case Strike.RIVAL:
                self._rival(pid)
            case Strike.HOST:
                self._lose_host()
        self.ledger.strike(shown)
        self._collect(kill_at)

    def _outage(self, blow: Blow) -> None:
        """The broker, the registry, or a part of the cluster is away for a while."""
        if self.machines is not None:
            self._lose(self.machines, blow)
            return
        assert self.topics is not None, "there is a broker"
        if blow.strike is Strike.REGISTRY:
            with self.topics.registry.outage():
                time.sleep(blow.down)
            return
        self.topics.broker.kill()
        time.sleep(blow.down)
        self.topics.broker.start()

    def _lose(self, machines: Machines, blow: Blow) -> None:
        if blow.strike is Strike.MASTER:
            self._struck = True  # an application that its master has forgotten starts again by itself
            machines.lose_master(blow.down)
        elif blow.strike is Strike.WORKERS:
            machines.lose_workers(blow.down)
        else:
            machines.lose_worker(self.ledger.rounds, blow.down)

    def _strike_both(self, blow: Blow, pid: int) -> None:
        """At one time; the driver comes back by itself before the broker does, or by the next apply."""
        assert self.topics is not None, "there is a broker"
        self.topics.broker.kill()
        self._signal(pid, signal.SIGKILL)
        self._await_end(pid, blow.strike)
        if blow.strike is Strike.DARK:
            self._collect()
            self.lake.serve(self._kept)
        time.sleep(blow.down)
        self.topics.broker.start()
        if blow.strike is Strike.DARK and not wait_until(
            lambda: self.lake.driver_pid() not in (pid, None), PATIENCE
        ):
            self._complain("a driver that started without a broker does not lead")

    def _pause(self, pid: int) -> None:
        """The driver is silent for longer than its heartbeat may be old; nothing may be applied meanwhile."""
        self._signal(pid, signal.SIGSTOP)
        try:
            self.feed.land(1)
            time.sleep(22)
            self._look(self.lake.run(*_APPLY, **self._variables()), Command.APPLY)
        finally:
            self._signal(pid, signal.SIGCONT)

    def _rival(self, pid: int) -> None:
        self._signal(pid, signal.SIGSTOP)
        try:
            time.sleep(32)
            self.lake.rival()
            taken = wait_until(
                lambda: self.lake.application().get("pid") not in (pid, None) or self._lease_owner() != pid,
                PATIENCE,
            )
            if not taken:
                self._complain("the lease of a silent driver was not taken over")
        finally:
            self._signal(pid, signal.SIGCONT)
        self._await_end(pid, Strike.RIVAL)
        if not wait_until(lambda: self.lake.driver_pid() not in (pid, None), PATIENCE):
            self._complain("the driver that took over does not lead")

    def _lose_host(self) -> None:
        """Moves the driver to another host that is lost: the next command sees a lease of a host that it
        knows nothing of, and a process that it cannot look at.
        """
        there = self.lake.move("other-host")
        self._collect()
        if there is None:
            self._complain("a driver on another host did not come to lead")
            return
        self._struck = True
        jvm = self.lake.application().get("jvm_pid")
        for pid in (there, jvm):
            if isinstance(pid, int):
                self._signal(pid, signal.SIGKILL)
        self._await_end(there, Strike.HOST)

    def _lease_owner(self) -> object:
        try:
            return json.loads((self.lake.runtime / "lease.json").read_text()).get("pid")
        except (OSError, ValueError):
            return None

    def _await_end(self, pid: int, strike: Strike) -> None:
        if not wait_until(lambda: not is_driver(pid), PATIENCE):
            self._complain(f"{strike.value}: the driver {pid} did not end")
            self._signal(pid, signal.SIGKILL)

    def _signal(self, pid: int, sign: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, sign)

    # Commands

    def _variables(self) -> dict[str, str]:
        return {
            "FLAREIAC_FAIL_AT": self._life.fails,
            **({"FLAREIAC_KILL_AT": self._life.dies} if self._life.dies else {}),
        }

    def _command(self, *words: str, **extra: str) -> Ended:
        done = self.lake.run(*words, **extra)
        self._collect(extra.get("FLAREIAC_KILL_AT", ""))
        self._look(done, words[0])
        return done

    def _look(self, done: Ended, word: str) -> None:
        self.ledger.command(word, done)
        self._tell(f"{word} ended with {done.code}")
        if "Traceback" in done.text:
            self._complain(f"{word} ended with a traceback:\n{done.text[-3000:]}")

    def _converge(self) -> None:
        """An apply after which plan has nothing to do. What else ends it than a kill is wrong."""
        text = ""
        for _ in range(_APPLIES):
            hard = self._hard
            done = self._command(*_APPLY, **self._variables())
            text = done.text
            if done.code:
                if _REFUTED in done.err:
                    continue  # the next plan knows of it
                if self._hard == hard and self.lake.driver_pid() is not None:
                    self._complain(f"apply ended with {done.code}, and no driver died:\n{done.text[-4000:]}")
                continue
            planned = self._command("plan", "-detailed-exitcode")
            if planned.code == 0:
                return
            if self._hard == hard and self.lake.driver_pid() is not None:
                self._complain(f"plan after apply ended with {planned.code}:\n{planned.text[-4000:]}")
        self.wrong.append(f"{_APPLIES} applies did not converge; the last one:\n{text[-4000:]}")
        raise RuntimeError("\n".join(self.wrong))

    def _tell(self, text: str) -> None:
        remark(f"{time.monotonic() - self._begun:.0f} s: {text}")

    def _complain(self, text: str) -> None:
        self.wrong.append(text)
        remark(text)

    # What died

    def _collect(self, kill_at: str = "") -> None:
        """Counts what was hit since the last look; ``kill_at``: with what a driver that is new was
        started.
        """
        for point, _times in self.lake.hits():
            self.ledger.kill(self._scenario_of(point), point.partition("@")[0], "attempt of a job")
        known = self.lake.application().get("id")
        if known != self._id:
            self._driver_died()
            self._id, self._up, self._struck = known, True, False
            self._dies = kill_at if kill_at.startswith("driver.") else ""
            self._life = next(self._lives)
            self.ledger.drivers += known is not None
        if self.lake.driver_pid() is not None:
            return
        if self._up:
            self._driver_died()
        elif kill_at.startswith(_UNSEEN):  # it died before it could write that it was there
            self._hard += 1
            self.ledger.kill(EVERYTHING, _UNSEEN, "driver")
            self._life = next(self._lives)

    def _driver_died(self) -> None:
        if not self._up:
            return
        self._up = False
        self._hard += 1
        if self._struck:
            return
        if self._dies:
            self.ledger.kill(
                self._scenario_of(self._dies), self._dies.partition("@")[0].partition(":")[0], "driver"
            )
        else:
            self._complain(f"a driver ended by itself: {self.lake.application().get('reason')}")

    def _scenario_of(self, point: str) -> str:
        """The scenario whose job or output a point counts for."""
        return self._of.get(point.partition("@")[2].partition(":")[0] if "@" in point else "", EVERYTHING)

    # What is there

    def _compare(self) -> None:
        """Waits until all is as it must be, or nothing moves any more."""
        self._look_at_order()
        self.feed.rest()
        waiting = {
            target.name: (item, target)
            for item in self.scenarios
            for target in item.targets
            if target.name not in self._broken
        }
        wanted = {
            name: target.expected(self.feed.files(item.name)) for name, (item, target) in waiting.items()
        }
        known: dict[str, Content] = {}
        moved = began = time.monotonic()
        while waiting and time.monotonic() - moved < _QUIET and time.monotonic() - began < _DEADLINE:
            for table, (_, target) in tuple(waiting.items()):
                content = self._content(target, known.get(table), wanted[table])
                if content is not None:
                    known[table] = content
                    if content.rows == wanted[table] and not content.twice:
                        del waiting[table]
                        self.ledger.compared += 1
                        moved = time.monotonic()
            self._collect()
            if waiting and self.lake.driver_pid() is None:
                self._converge()
                moved = time.monotonic()
            elif self._at_work([item for item, _ in waiting.values()]):
                moved = time.monotonic()
            time.sleep(0.5)
        self._note(wanted, waiting)

    def _content(
        self, target: Target, known: Content | None, wanted: "Counter[Cells]", *, any_number: bool = False
    ) -> Content | None:
        """As ``Lake.content``; of a topic without the copies that it may have."""
        if not target.topic:
            return self.lake.content(target, known, -1 if any_number else wanted.total())
        assert self.topics is not None, "there is a broker"
        copies = self.topics.copies(target)
        rows = at_least_once(copies, wanted)
        self.ledger.copies[target.topic] = copies.total() - rows.total()
        return Content(snapshot_id=None, rows=rows, twice=())

    def _look_at_order(self) -> None:
        """A topic has no record whose row the table does not have, at any moment."""
        for target in (target for item in self.scenarios for target in item.targets if target.topic):
            assert self.topics is not None, "there is a broker"
            records = self.topics.copies(target)
            content = self.lake.content(replace(target, topic=""), None, -1)
            ahead = records.keys() - (content.rows if content is not None else Counter()).keys()
            if ahead:
                self._complain(f"{target.name}: {len(ahead)} records have no row: {sorted(ahead)[:10]}")

    def _at_work(self, scenarios: Sequence[Scenario]) -> bool:
        """Returns True if a job of these, or its source, has something to do yet."""
        jobs = self.lake.jobs()
        phases = [jobs.get(job, {}).get("phase") for job in ("job.plain", *(item.job for item in scenarios))]
        return any(phase in ("pending", "starting", "running", "backoff", "stopping") for phase in phases)

    def _note(self, wanted: "dict[str, Counter[Cells]]", waiting: dict[str, tuple[Scenario, Target]]) -> None:
        for item in self.scenarios:
            tables = [target.name for target in item.targets if target.name in wanted]
            tally = self.ledger.tallies[item.name]
            if tables:
                tally.expected = tally.found = sum(wanted[table].total() for table in tables)
        for table, (item, target) in waiting.items():
            content = self._content(target, None, wanted[table], any_number=True)
            rows: Counter[Cells] = content.rows if content is not None else Counter()
            missing, surplus = wanted[table] - rows, rows - wanted[table]
            tally = self.ledger.tallies[item.name]
            tally.found += rows.total() - wanted[table].total()
            tally.missing += missing.total()
            tally.surplus += surplus.total()
            tally.twice += len(content.twice) if content is not None else 0
            self._broken.add(table)
            self._complain(
                f"{table}: {missing.total()} rows are missing, {surplus.total()} are too many; committed "
                f"twice: {content.twice if content is not None else ()}\n"
                f"  missing: {sorted(missing, key=str)[:10]}\n"
                f"  too many: {sorted(surplus, key=str)[:10]}\n"
                f"  {self.lake.jobs().get(item.job)}"
            )


def at_least_once(copies: "Counter[Cells]", wanted: "Counter[Cells]") -> "Counter[Cells]":
    """The records of a topic without those that it has more often than it must. A row that was read twice
    must be there twice: a producer repeats what a killed broker has forgotten to have.
    """
    return Counter(
        {row: min(times, wanted[row]) if row in wanted else times for row, times in copies.items()}
    )
