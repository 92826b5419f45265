"""Two definitions of a job as Spark is asked to compare them: their specs, and what each input reads.
Pure.
"""

from collections.abc import Mapping
from dataclasses import replace

from flareiac.kernel.data import Attributes, digest
from flareiac.kernel.records import encode
from flareiac.sdk.project import Project
from flareiac.sdk.references import References
from flareiac_spark.definition.build import spec_of
from flareiac_spark.definition.input_definition import Input
from flareiac_spark.definition.input_identity import paired_inputs
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark_runtime.control import Pair, ProofSource, job_spec_to_json
from flareiac_spark_runtime.sources.resolved import SpecColumn

_BESIDE = ("columns", "column_order", "stream", "watermark")
"""Attributes of an input that are part of the plan itself, or only its name."""


def pair_of(
    address: str, recorded: Attributes, planned: Attributes, references: References, project: Project
) -> Pair:
    """Both with the columns that they themselves read. Raises ``Failure`` and ``KeyError`` where the recorded
    one refers to what is not declared any more.
    """
    old, new = JobDefinition.of(recorded), JobDefinition.of(planned)
    specs = [
        spec_of(address, attributes, references, project, analysis=True)
        for attributes in (_without_former_quarantines(old, new), planned)
    ]
    identities = {name: _identity(job_input) for name, job_input in old.inputs.items()}
    return Pair(
        address=address,
        before=job_spec_to_json(specs[0]),
        after=job_spec_to_json(specs[1]),
        sources_before=_sources(old, identities),
        sources_after=_sources(new, _paired(old, new, identities)),
    )


def _without_former_quarantines(old: JobDefinition, new: JobDefinition) -> Attributes:
    """The recorded definition without the outputs of bad records that the planned one has no more: they are
    queries of their own, which keep no state, and their tables may be gone with them.
    """
    outputs = {
        name: output for name, output in old.outputs.items() if not output.bad_records or name in new.outputs
    }
    return replace(old, outputs=outputs).attributes


def _sources(job: JobDefinition, identities: Mapping[str, str]) -> dict[str, ProofSource]:
    return {
        name: ProofSource(
            identity=identities[name],
            columns=tuple(_column(column, kind) for column, kind in _ordered(job_input).items()),
        )
        for name, job_input in job.inputs.items()
    }


def _ordered(job_input: Input) -> dict[str, str]:
    """In the order in which they are declared, as far as that is recorded: a star stands for them."""
    order = [name for name in job_input.column_order or () if name in job_input.columns]
    return {
        name: job_input.columns[name]
        for name in (*order, *(each for each in job_input.columns if each not in order))
    }


def _column(name: str, kind: str) -> SpecColumn:
    plain = kind.removesuffix(" not null")
    return SpecColumn(name=name, type=plain, required=plain != kind)


def _paired(old: JobDefinition, new: JobDefinition, identities: Mapping[str, str]) -> dict[str, str]:
    """An input that goes on reading what one of the recorded definition read is the same one: how its reading
    changes is judged by itself. Two inputs of one place that are read in two ways stay two.
    """
    pairs = paired_inputs(old, new)
    return {
        name: identities[pairs[name]] if name in pairs else _identity(job_input)
        for name, job_input in new.inputs.items()
    }


def _identity(job_input: Input) -> str:
    """Names the place that an input reads and the way in which it reads it."""
    plain = {name: value for name, value in encode(job_input).items() if name not in _BESIDE}
    return digest(plain)
