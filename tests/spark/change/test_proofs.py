"""A changed query needs a proof before it starts where the old one stands, and not each proof is enough."""

import threading
from pathlib import Path
from typing import Final

import pytest

from flareiac.sdk.actions import Update
from flareiac.sdk.changes import Effect, Proposal
from flareiac.sdk.requests import ApplyRequest
from flareiac.sdk.results import Recorded
from flareiac_spark.change.proofs import acceptance_of_unproven, is_proven
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.engine.application import Applications
from flareiac_spark.job import preflight
from flareiac_spark.job.analyse import Analysis
from flareiac_spark.job.payload import JobPayload
from flareiac_spark.job.running import RunningJobs
from flareiac_spark_runtime.control import Proof, StoredProof
from tests.spark.declared import LAKE, STATEFUL, STATELESS, Loaded, loaded, proposal, running

STATE: Final = ("stateStoreSave",)
RENAMED: Final = ("FROM orders", "FROM orders AS o")
SLOWER: Final = (
    "checkpoint = checkpoint.x",
    'checkpoint = checkpoint.x\n  trigger = { processing_time = "9s" }',
)


def _edited(root: Path, hcl: str, *edits: tuple[str, str]) -> Loaded:
    text = LAKE + hcl
    for old, new in edits:
        assert old in text, old
        text = text.replace(old, new)
    return loaded(text, root)


def _needed(tmp_path: Path, hcl: str, *edits: tuple[str, str], operators: tuple[str, ...] = ()) -> str:
    before, after = _edited(tmp_path / "a", hcl), _edited(tmp_path / "b", hcl, *edits)
    return JobPayload.of(proposal(after, before, running(operators=operators)).payload).proof


@pytest.mark.parametrize(
    ("edits", "needed"),
    [
        ((), ""),
        ((SLOWER,), ""),
        ((("SELECT", "select   /* all */"), SLOWER), ""),
        ((("FROM orders", "FROM orders AS o"),), "equal"),  # nothing restarts: the old query runs on
        ((("FROM orders", "FROM orders AS o"), SLOWER), "state"),
        ((("'1 hour'", "'2 hours'"), SLOWER), ""),  # the plan is blocked
    ],
)
def test_a_text_that_starts_on_state_needs_the_proof_that_it_keeps_it(
    tmp_path: Path, edits: tuple[tuple[str, str], ...], needed: str
) -> None:
    assert _needed(tmp_path, STATEFUL, *edits, operators=STATE) == needed


def test_a_text_that_starts_on_offsets_needs_the_proof_that_it_reads_the_same(tmp_path: Path) -> None:
    assert _needed(tmp_path, STATELESS, ("FROM orders", "FROM orders AS o"), SLOWER) == "sources"


def test_the_token_stands_for_this_change_alone(tmp_path: Path) -> None:
    before = _edited(tmp_path / "a", STATEFUL)
    edits = (("FROM orders", "FROM orders AS o"), SLOWER)
    after = _edited(tmp_path / "b", STATEFUL, *edits)
    old, new = (JobDefinition.of(side.attributes("job.x")) for side in (before, after))
    word = acceptance_of_unproven("job.x", old, new)
    accepting = (
        "checkpoint = checkpoint.x\n",
        f'checkpoint = checkpoint.x\n  accept_result_change = "{word}"\n',
    )
    facts = running(operators=STATE)
    accepted = proposal(_edited(tmp_path / "c", STATEFUL, *edits, accepting), before, facts)
    assert JobPayload.of(accepted.payload).proof == ""
    assert Effect.RESULTS_CHANGE in [step.effect for step in accepted.steps]
    assert not accepted.blockers
    other = _edited(tmp_path / "d", STATEFUL, ("FROM orders", "FROM orders AS p"), SLOWER, accepting)
    assert JobPayload.of(proposal(other, before, facts).payload).proof == "state"
    assert acceptance_of_unproven("job.y", old, new) != word


@pytest.mark.parametrize(
    ("needed", "verdict", "parts", "enough"),
    [
        ("state", "equal", (), True),
        ("state", "state", ("query",), True),
        ("state", "different", ("state",), False),
        ("state", "unproven", (), False),
        ("sources", "different", ("query", "columns"), True),
        ("sources", "different", ("sources", "query"), False),
        ("sources", "different", ("state", "query"), False),
        ("sources", "unproven", (), True),
    ],
)
def test_what_is_uncertain_keeps_no_state(
    needed: str, verdict: str, parts: tuple[str, ...], enough: bool
) -> None:
    proof = Proof(verdict=verdict, spark="4.1.4", parts=parts)  # type: ignore[arg-type] # one of them
    assert is_proven(needed, proof) is enough  # type: ignore[arg-type] # one of them


def _with_verdict(
    tmp_path: Path, hcl: str, edit: tuple[str, str], operators: tuple[str, ...], **proof: object
) -> Proposal:
    """The plan of an edit of which Spark was asked before. The application runs Spark 4.1.4."""
    before, after = _edited(tmp_path / "a", hcl), _edited(tmp_path / "b", hcl, edit)
    facts = running(operators=operators, spark="4.1.4")
    pair = JobPayload.of(proposal(after, before, facts).payload).pair
    known = {"pair": pair, "at": 0.0, "spark": "4.1.4", **proof}
    return proposal(after, before, facts, identity={"proofs": [known]})


@pytest.mark.parametrize(
    ("hcl", "edit", "verdict", "parts", "outcome"),
    [
        (STATEFUL, RENAMED, "equal", [], Effect.RECORDED),
        (STATEFUL, RENAMED, "different", ["state"], "FIK063"),
        (STATEFUL, RENAMED, "unproven", [], "FIK063"),
        (STATELESS, RENAMED, "equal", [], Effect.RECORDED),
        (STATELESS, RENAMED, "different", ["query"], Effect.RESTART),
        (STATELESS, RENAMED, "different", ["outputs"], Effect.RESTART),
        (STATELESS, RENAMED, "different", ["sources"], "FIK062"),
        (STATELESS, RENAMED, "unproven", [], Effect.RESTART),
        (STATEFUL, ("'1 hour'", "'60 minutes'"), "equal", [], Effect.RECORDED),
        (STATEFUL, ("'1 hour'", "'2 hours'"), "different", ["state"], "FIK063"),
    ],
)
def test_a_verdict_that_is_known_decides(
    tmp_path: Path, hcl: str, edit: tuple[str, str], verdict: str, parts: list[str], outcome: str
) -> None:
    operators = STATE if hcl is STATEFUL else ()
    found = _with_verdict(tmp_path, hcl, edit, operators, verdict=verdict, parts=parts, reason="no reason")
    said = [item.code for item in found.blockers] or [step.effect for step in found.steps]
    assert outcome in said
    assert not found.provable, "Spark was asked"
    assert ":  differ" not in str(found)


def test_spark_leaves_an_acceptance_that_it_agrees_with(tmp_path: Path) -> None:
    """A word that was given before Spark was asked is good afterwards, where Spark sees the same change."""
    edit = ("count(*) AS n", "count(*) * 10 AS n")
    before, after = _edited(tmp_path / "a", STATEFUL), _edited(tmp_path / "b", STATEFUL, edit)
    unasked = proposal(after, before, running(operators=STATE))
    (tmp_path / "asked").mkdir()
    asked = _with_verdict(tmp_path / "asked", STATEFUL, edit, STATE, verdict="state", parts=["query"])
    assert [blocker.code for blocker in unasked.blockers] == ["FIK063"]
    assert asked.blockers == unasked.blockers


def test_a_verdict_of_another_version_of_spark_is_asked_for_again(tmp_path: Path) -> None:
    found = _with_verdict(tmp_path, STATEFUL, RENAMED, STATE, verdict="unproven", spark="4.1.3", reason="x")
    assert [step.effect for step in found.steps] == [Effect.TAKEN]


@pytest.mark.parametrize(("spark", "noted"), [("4.1.4", True), ("", False)])
def test_no_answer_is_no_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spark: str, noted: bool
) -> None:
    """An application that is silent proves nothing today; a state that kept this would block for ever."""
    before, after = _edited(tmp_path / "a", STATEFUL), _edited(tmp_path / "b", STATEFUL, RENAMED)
    planned = proposal(after, before, running(operators=STATE))
    action = Update(
        planned=planned.planned or {},
        recorded=Recorded(attributes=before.attributes("job.x"), identity={"digest": "d"}),
        payload=planned.payload,
    )
    request = ApplyRequest(
        key="k",
        address="job.x",
        action=action,
        references=after.references(),
        cancel=threading.Event(),
        progress=lambda _text: None,
    )
    pair = JobPayload.of(planned.payload).pair
    answer = StoredProof(pair=pair, at=0.0, verdict="unproven", spark=spark, reason="it did not answer")
    monkeypatch.setattr(preflight, "analyse", lambda *_: Analysis(proofs={"job.x": answer}))
    found = preflight.preflight([request], RunningJobs(Applications(after.project)))
    assert [item.code for item in found.diagnostics] == ["FIK470"]
    assert bool(found.refuted) is noted
