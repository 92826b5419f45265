"""A changed query needs a proof before it starts where the old one stands, and not each proof is enough."""

from pathlib import Path
from typing import Final

import pytest

from flareiac.sdk.changes import Effect
from flareiac_spark.change.proofs import acceptance_of_unproven, is_proven
from flareiac_spark.control import Proof
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.job.payload import JobPayload
from tests.spark.declared import LAKE, STATEFUL, STATELESS, Loaded, loaded, proposal, running

STATE: Final = ("stateStoreSave",)
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
