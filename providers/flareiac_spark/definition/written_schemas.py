"""The ids of schemas that outputs write, in a definition that is carried out. Pure."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import decode, encode
from flareiac_spark.definition.job_definition import JobDefinition

REGISTER: Final = "register"
"""The stage that registers the schema of an output, with the name of the output behind a dot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredNote:
    """The note that the stage of registration leaves."""

    id: int

    @property
    def data(self) -> Data:
        """As the journal has it."""
        return encode(self)


def with_registered_ids(planned: Attributes, notes: Mapping[str, Data]) -> Attributes:
    """The planned attributes with the ids that stages have noted since; the others stay None."""
    job = JobDefinition.of(planned)
    if all(written.id is not None for written in job.avro.values()):
        return planned
    registered = {
        name: replace(written, id=decode(RegisteredNote, note, "note").id)
        for name, written in job.avro.items()
        if written.id is None and (note := notes.get(f"{REGISTER}.{name}")) is not None
    }
    return replace(job, avro={**job.avro, **registered}).attributes
