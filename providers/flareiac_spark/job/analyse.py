"""Has the application analyze the planned definitions on empty frames. Touches the application, no data."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Final, NamedTuple

from flareiac.kernel.data import Attributes, digest
from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.paths import Path
from flareiac.sdk.requests import ChangeRequest
from flareiac_spark import codes
from flareiac_spark.application import run_operation
from flareiac_spark.change.proofs import (
    IS_EQUAL,
    KEEPS_STATE,
    NO_PROOF,
    Needed,
    acceptance_of_unproven,
    is_proven,
    said_of,
)
from flareiac_spark.definition.build import spec_of
from flareiac_spark.definition.code import publish
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.definition.proof_pair import pair_of
from flareiac_spark.engine.application import Applications
from flareiac_spark.job.payload import JobPayload
from flareiac_spark.job.streaming_limits import instead_for_streams
from flareiac_spark_runtime.control import (
    ControlDirectory,
    Finding,
    Operation,
    Pair,
    Proof,
    Prove,
    StoredProof,
    job_spec_to_json,
)

TIMEOUT: Final = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """``diagnostics``: what Spark does not understand; ``proofs``: what it said of changed texts, by
    address.
    """

    diagnostics: tuple[Diagnostic, ...] = ()
    proofs: Mapping[str, StoredProof] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refutation:
    """The changes that are not what was planned, with an error for each; ``blocks``: what they are blocks a
    plan.
    """

    diagnostics: tuple[Diagnostic, ...] = ()
    addresses: frozenset[str] = frozenset()
    blocks: bool = False


def analyse(requests: Sequence[ChangeRequest], applications: Applications) -> Analysis:
    """One error for each finding; where there are none, what Spark says of changed texts. Jobs whose
    definition does not change are not asked about. Raises ``Failure``.
    """
    by_place: dict[str, list[_Question]] = {}
    for request in requests:
        question = _question(request)
        if question.payload.analyse:
            by_place.setdefault(question.definition.runs_in.runtime_location, []).append(question)
    analyses = [_analyse(group, applications) for group in by_place.values()]
    return Analysis(
        diagnostics=tuple(diagnostic for each in analyses for diagnostic in each.diagnostics),
        proofs={address: proof for each in analyses for address, proof in each.proofs.items()},
    )


def refutation(requests: Sequence[ChangeRequest], proofs: Mapping[str, StoredProof]) -> Refutation:
    """An error for each query that starts on the checkpoint of another text, or is recorded in its place,
    where Spark's plans do not prove that it may.
    """
    asked = [
        (_question(request), proofs[request.address].proof)
        for request in requests
        if request.address in proofs
    ]
    refuted = [
        (question, proof)
        for question, proof in asked
        if question.payload.proof != NO_PROOF and not is_proven(question.payload.proof, proof)
    ]
    return Refutation(
        diagnostics=tuple(_not_proven(question, proof) for question, proof in refuted),
        addresses=frozenset(question.request.address for question, _proof in refuted),
        blocks=any(not is_proven(question.start_needs, proof) for question, proof in refuted),
    )


class _Question(NamedTuple):
    """A new or changed definition."""

    request: ChangeRequest
    planned: Attributes
    definition: JobDefinition
    payload: JobPayload

    @property
    def before(self) -> Attributes | None:
        """The definition that runs, or ran on the checkpoint last."""
        return self.payload.replaced(self.request.action.recorded)

    @property
    def start_needs(self) -> Needed:
        """The proof without which it must not start on the checkpoint."""
        return self.payload.start_needs if self.payload.proof == IS_EQUAL else self.payload.proof


def _question(request: ChangeRequest) -> _Question:
    planned = request.action.planned
    payload = JobPayload.of(request.action.payload)
    return _Question(request, planned, JobDefinition.of(planned), payload)


def _analyse(questions: Sequence[_Question], applications: Applications) -> Analysis:
    requests, engine = [question.request for question in questions], questions[0].definition.runs_in
    specs = [
        spec_of(
            question.request.address,
            question.planned,
            question.request.references,
            applications.project,
            analysis=True,
        )
        for question in questions
    ]
    control, cancel = applications.control(engine), requests[0].cancel
    applications.want(engine, requests[0].references, lambda current: current)
    for question in questions:
        publish(question.planned, applications.project)
    if applications.bring_up(engine, cancel, requests[0].progress) is None:
        return Analysis()
    jobs = tuple(job_spec_to_json(spec) for spec in specs)
    operation = Operation(id=f"analyse-{digest([requests[0].key, list(jobs)])}", jobs=jobs)
    result = run_operation(control, operation, timeout=TIMEOUT, cancel=cancel)
    if result is None:
        return Analysis(diagnostics=() if cancel.is_set() else (_silent(),))
    if result.status == "failed":
        raise Failure(error(codes.ANALYSIS_FAILED, str(result.error)))
    definitions = {question.request.address: question.definition for question in questions}
    findings = [_finding(finding, definitions[finding.address]) for finding in result.findings]
    return Analysis(diagnostics=tuple(findings)) if findings else _proven(questions, control, applications)


def _proven(
    questions: Sequence[_Question], control: ControlDirectory, applications: Applications
) -> Analysis:
    """Asks about the texts that differ from those that ran."""
    asked = [question for question in questions if question.payload.pair and question.before is not None]
    pairs: dict[str, Pair] = {}
    proofs: dict[str, Proof] = {}
    for question in asked:
        address, before = question.request.address, question.before
        assert before is not None, "they were chosen by it"
        try:
            pairs[address] = pair_of(
                address, before, question.planned, question.request.references, applications.project
            )
        except (Failure, KeyError):
            reason = "what the recorded definition refers to is not declared any more"
            proofs[address] = Proof(verdict="unproven", spark="", reason=reason)
    proofs |= _proofs(tuple(pairs.values()), control, asked)
    return Analysis(
        proofs={
            question.request.address: _stored(question.payload.pair, proofs[question.request.address])
            for question in asked
            if question.request.address in proofs
        }
    )


def _stored(pair: str, proof: Proof) -> StoredProof:
    return StoredProof(
        pair=pair,
        at=time.time(),
        verdict=proof.verdict,
        spark=proof.spark,
        parts=proof.parts,
        reason=proof.reason,
    )


def _proofs(
    pairs: tuple[Pair, ...], control: ControlDirectory, asked: Sequence[_Question]
) -> Mapping[str, Proof]:
    """Nothing where the apply is cancelled. An application that does not answer proves nothing, as one of an
    earlier release does.
    """
    if not pairs:
        return {}
    request = asked[0].request
    key = digest([request.key, [[pair.before, pair.after] for pair in pairs]])
    operation = Operation(id=f"prove-{key}", work=Prove(pairs=pairs))
    result = run_operation(control, operation, timeout=TIMEOUT, cancel=request.cancel)
    if result is not None and result.status == "done":
        return result.proofs
    if request.cancel.is_set():
        return {}
    reason = str(result.error) if result is not None else f"it did not answer within {TIMEOUT:.0f} s"
    silent = Proof(verdict="unproven", spark="", reason=f"the Spark application proves nothing: {reason}")
    return {pair.address: silent for pair in pairs}


def _not_proven(question: _Question, proof: Proof) -> Diagnostic:
    """The error with its ways out: the next plan where that restarts the job, or else a generation of its
    own, the old text, and for state the word of a person.
    """
    address, definition = question.request.address, question.definition
    said = f"{address}: {said_of(proof)} Nothing was changed."
    if is_proven(question.start_needs, proof):
        ways = (
            "The next plan shows the restart that it takes. To leave it as it runs, write the old SQL again"
        )
        return error(codes.NOT_PROVEN, f"{said} {ways}.", address=address)
    ways = f"Write the old SQL again, or raise generation of {definition.checkpoint}"
    if question.start_needs == KEEPS_STATE and question.before is not None:
        accepted = acceptance_of_unproven(address, JobDefinition.of(question.before), definition)
        ways += (
            f'. To keep the state and mix the results, write accept_result_change = "{accepted}" in the job'
        )
    return error(codes.NOT_PROVEN, f"{said} {ways}.", address=address)


def _finding(finding: Finding, definition: JobDefinition) -> Diagnostic:
    where = f" in step {finding.step}" if finding.step and "." not in finding.step else ""
    legacy = finding.error_class.startswith("_LEGACY_ERROR_TEMP_")
    message = finding.message if legacy else f"{finding.error_class}: {finding.message}"
    instead = instead_for_streams(f"{finding.error_class}: {finding.message}")
    if instead is not None:
        code, message = codes.NOT_FOR_STREAMS, f"{message.rstrip('.')}. {instead} Nothing was changed."
    elif finding.step.startswith("outputs."):
        code = codes.OUTPUT_DOES_NOT_FIT
    else:
        code = codes.SQL_NOT_UNDERSTOOD
    return error(
        code,
        f"{finding.address}{where}: {message}",
        address=finding.address,
        attribute=_attribute(finding.step, definition),
    )


def _attribute(step: str, definition: JobDefinition) -> Path:
    kind, dot, name = step.partition(".")
    if kind == "outputs" and name in definition.outputs:
        name = definition.outputs[name].tombstones_of or name
    if dot and kind in ("inputs", "outputs"):
        return (kind.removesuffix("s"), name)
    written = "python" if step in definition.python_steps else "sql"
    return ("step", step, written) if step else ()


def _silent() -> Diagnostic:
    return error(
        codes.ANALYSIS_TOO_SLOW,
        f"The Spark application did not answer within {TIMEOUT:.0f} s. Nothing was changed.",
    )
