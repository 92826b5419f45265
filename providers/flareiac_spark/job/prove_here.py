"""Has a Spark of this machine say what it thinks of changed definitions: it runs for the question alone, on
schemas, and reads no data and no broker.
"""

import shutil
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from flareiac.kernel.data import Attributes, digest
from flareiac.kernel.records import encode
from flareiac.sdk.capabilities import Proofs
from flareiac.sdk.project import Project
from flareiac.sdk.requests import ChangeRequest
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.definition.job_identity import JobIdentity, recorded_identity, with_proof
from flareiac_spark.engine.application import Applications
from flareiac_spark.engine.engine_definition import LOCAL, EngineDefinition
from flareiac_spark.job.kept_answers import KeptAnswer, KeptAnswers
from flareiac_spark.job.payload import JobPayload
from flareiac_spark.job.preflight import prove
from flareiac_spark.job.running import RunningJobs

_OF_QUERIES: Final = "spark.sql."
_IDLE_MS: Final = 600_000
"""It ends by itself where this process dies."""


def prove_here(requests: Sequence[ChangeRequest], project: Project) -> Proofs:
    """Answers as the engines of these jobs would, as far as schemas and settings of queries decide it.
    Engines that differ in these need a start each; what was answered before needs none. Raises ``Failure``.
    """
    by_address = {
        request.address: request for request in requests if JobPayload.of(request.action.payload).analyse
    }
    answers = KeptAnswers(project, by_address)
    kept = {address: answer for address in by_address if (answer := answers.find(address))}
    asked = [request for address, request in by_address.items() if address not in kept]
    said = _ask(asked, project) if asked else Proofs()
    answers.keep(_worth_keeping(asked, said))
    known = {
        address: encode(with_proof(recorded_identity(by_address[address].action.recorded), answer.proof))
        for address, answer in kept.items()
        if answer.proof is not None
    }
    return replace(said, learned={**said.learned, **known}, checked=said.checked | kept.keys())


def _worth_keeping(asked: Sequence[ChangeRequest], said: Proofs) -> dict[str, KeptAnswer]:
    """Whole answers without an error."""
    kept_answers: dict[str, KeptAnswer] = {}
    for request in asked:
        pair = JobPayload.of(request.action.payload).pair
        identity = JobIdentity.of(said.learned.get(request.address, {}))
        proof = next((stored for stored in identity.proofs if stored.pair == pair), None)
        if request.address in said.checked and (proof is not None or not pair):
            kept_answers[request.address] = KeptAnswer(proof=proof)
    return kept_answers


def _ask(requests: Sequence[ChangeRequest], project: Project) -> Proofs:
    folder = Path(tempfile.mkdtemp(prefix="flareiac-prove-"))
    applications = Applications(project, long_lived=False)
    engines: dict[str, EngineDefinition] = {}
    moved: list[ChangeRequest] = []
    for request in requests:
        engine = _engine(JobDefinition.of(request.action.planned).runs_in, folder)
        engines[engine.runtime_location] = engine
        planned: Attributes = {**request.action.planned, "application": encode(engine)}
        moved.append(request.with_action(replace(request.action, planned=planned)))
    try:
        return prove(moved, RunningJobs(applications))
    finally:
        try:
            for engine in engines.values():
                applications.end(engine, threading.Event())
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _engine(engine: EngineDefinition, folder: Path) -> EngineDefinition:
    """An engine of this machine with the settings that decide how SQL is read."""
    conf = {name: value for name, value in engine.conf.items() if name.startswith(_OF_QUERIES)}
    place = folder / digest([conf, list(engine.packages)])[:16]
    place.mkdir(exist_ok=True)
    return replace(
        engine,
        type=LOCAL,
        master="local[2]",
        conf=conf,
        runtime_location=str(place),
        idle_shutdown_ms=_IDLE_MS,
        graceful_stop_ms=1_000,
        deploy_mode="",
        proxy_user="",
        log_format="",
        listen="",
        liveness_file="",
        pools={},
    )
