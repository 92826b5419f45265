"""Answers of a Spark of this machine, in the user's cache: Spark is asked on schemas alone, so the same
question has the same answer. Touches the user's cache.
"""

from collections.abc import Mapping
from typing import Any, Final

from flareiac.kernel import user_cache
from flareiac.kernel.data import digest
from flareiac.kernel.diagnostics import Failure
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import Mismatch, decode, encode
from flareiac.sdk.project import Project
from flareiac.sdk.requests import ChangeRequest
from flareiac_spark.definition.build import spec_of
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.definition.proof_pair import pair_of
from flareiac_spark.job.payload import JobPayload
from flareiac_spark.runtime.driver_archive import driver_archive
from flareiac_spark.runtime.versions import installed_pyspark
from flareiac_spark_runtime.control import StoredProof, job_spec_to_json

_MOST: Final = 1_000
"""Answers of one project."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptAnswer:
    """A job in which Spark has seen no error. ``proof``: its verdict on the new and the old text, where it
    was asked for one.
    """

    proof: StoredProof | None = None


class KeptAnswers:
    """The answers about changes of jobs of one project, by the digest of the question. ``requests`` are by
    the address of the job.
    """

    def __init__(self, project: Project, requests: Mapping[str, ChangeRequest]) -> None:
        self._project = project
        self._asker = [installed_pyspark(), driver_archive().digest]
        self._name = f"proofs/{digest(str(project.root))}.json"
        content = user_cache.read_json(self._name)
        self._known: dict[str, Any] = content if isinstance(content, dict) else {}
        self._keys = {address: self._key(request) for address, request in requests.items()}

    def find(self, address: str) -> KeptAnswer | None:
        """The answer about the change of a job; None where Spark has to be asked."""
        key = self._keys[address]
        if key not in self._known:
            return None
        try:
            return decode(KeptAnswer, self._known[key])
        except Mismatch:
            return None

    def keep(self, answers: Mapping[str, KeptAnswer]) -> None:
        """Keeps answers, by the address of the job."""
        for address, answer in answers.items():
            if key := self._keys[address]:
                self._known[key] = encode(answer)
        if answers:
            user_cache.keep_json(self._name, dict(list(self._known.items())[-_MOST:]))

    def _key(self, request: ChangeRequest) -> str:
        """Everything that an answer depends on; empty where that is not known."""
        planned, payload = request.action.planned, JobPayload.of(request.action.payload)
        job, project = JobDefinition.of(planned), self._project
        before = payload.replaced(request.action.recorded)
        pair: Any = None
        try:
            spec = spec_of(request.address, planned, request.references, project, analysis=True)
            if payload.pair and before is not None:
                pair = encode(pair_of(request.address, before, planned, request.references, project))
        except (Failure, KeyError):
            return ""
        conf, packages = job.runs_in.conf, list(job.runs_in.packages)
        return digest([job_spec_to_json(spec), payload.pair, pair, conf, packages, self._asker])
