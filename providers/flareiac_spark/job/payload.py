"""The data that a plan of a job hands to its apply beside the definition. Pure."""

from dataclasses import field

from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import OPTIONAL, SPARSE, decode, encode
from flareiac.sdk.results import Recorded
from flareiac_spark.change.proofs import NO_PROOF, Needed


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPayload:
    """``analyse``: Spark analyses the definition first; ``live``: only what a running query takes;
    ``text_only``: what runs goes on, and its new text is recorded. ``nonce``: of the entry among what should
    run, None where it stays as it is.

    ``proof``: what Spark's plans must prove of the new query before the first effect: that it is the old one,
    that it keeps its state, or its sources. ``start_needs``: what they would have to prove before it could
    start on the checkpoint. ``pair`` names both queries (see ``StoredProof``). ``before``: the attributes of
    the old definition where another job left it, or this one without a record. ``kept_by``: the resource
    that keeps the record of the job which left it, and ``left``: that job's identity.
    """

    analyse: bool = False
    live: bool = field(default=False, metadata=SPARSE)
    nonce: int | None = None
    proof: Needed = field(default=NO_PROOF, metadata=SPARSE)
    before: Data = field(default=None, metadata=OPTIONAL)
    pair: str = field(default="", metadata=SPARSE)
    text_only: bool = field(default=False, metadata=SPARSE)
    start_needs: Needed = field(default=NO_PROOF, metadata=SPARSE)
    kept_by: str = field(default="", metadata=SPARSE)
    left: Data = field(default=None, metadata=OPTIONAL)

    @classmethod
    def of(cls, data: Data) -> "JobPayload":
        """The payload of a plan; empty for a job that is started by hand."""
        return decode(cls, data or {}, "payload")

    def replaced(self, recorded: Recorded | None) -> Attributes | None:
        """The attributes of the definition that runs, or ran on the checkpoint last."""
        left: Attributes | None = self.before
        return left or (recorded.attributes if recorded is not None else None)

    @property
    def data(self) -> Data:
        """As it is stored in a plan."""
        return encode(self)
