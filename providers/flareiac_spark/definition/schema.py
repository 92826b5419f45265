"""The schema of the ``job`` block: a reading of the records of its definition."""

from typing import Final

from flareiac.sdk.declared import attributes_of
from flareiac.sdk.schema import Block, NestedBlock, Nesting
from flareiac_spark.definition.input_definition import FilesInput, StreamInput, TableInput
from flareiac_spark.definition.job_definition import SCHEDULES, JobDefinition
from flareiac_spark.definition.output_definition import KafkaOutput, TableOutput
from flareiac_spark.definition.step_definition import Step
from flareiac_spark.stream.schema import COLUMN

INPUT_FILES: Final = Block(
    description="Reads files as they are when the job runs.",
    attributes=attributes_of(FilesInput),
    blocks={"column": NestedBlock(nesting=Nesting.MAP, block=COLUMN, any_label=True)},
)
INPUT: Final = Block(
    description="A source that the steps read by the label of the block.",
    attributes=attributes_of(StreamInput) | attributes_of(TableInput),
    blocks={"files": NestedBlock(nesting=Nesting.SINGLE, block=INPUT_FILES)},
    exactly_one_of=(("stream", "table", "files"),),
)
STEP: Final = Block(
    description=(
        "A query over inputs and earlier steps. Later steps read its result by the label of the block."
    ),
    attributes=attributes_of(Step),
)
OUTPUT_KAFKA: Final = Block(
    description="Writes each row as a record of a Kafka topic, at least once: a batch that is done again "
    "after a failure writes its records again.",
    attributes=attributes_of(KafkaOutput),
)
OUTPUT: Final = Block(
    description="A table or a topic that the rows of a step are written to.",
    attributes=attributes_of(TableOutput),
    blocks={"kafka": NestedBlock(nesting=Nesting.SINGLE, block=OUTPUT_KAFKA)},
    exactly_one_of=(("table", "kafka"),),
)
SCHEMA: Final = Block(
    description="A streaming or batch query: inputs, steps, outputs.",
    attributes=attributes_of(JobDefinition),
    blocks={
        "input": NestedBlock(nesting=Nesting.MAP, block=INPUT, required=True),
        "step": NestedBlock(nesting=Nesting.MAP, block=STEP),
        "output": NestedBlock(nesting=Nesting.MAP, block=OUTPUT, required=True),
    },
    instead=SCHEDULES
    | {
        "sql": 'A query stands in a step block: step "NAME" { sql = "..." }.',
        "source": 'What a job reads stands in input blocks: input "NAME" { stream = stream.NAME }.',
        "sink": 'What a job writes to stands in output blocks: output "NAME" { table = table.NAME }.',
        "target": 'What a job writes to stands in output blocks: output "NAME" { table = table.NAME }.',
        "merge": "merge is an attribute of an output block.",
        "watermark": "watermark is an attribute of a stream or of a step.",
        "checkpoint_location": "A checkpoint is a block of its own: checkpoint = checkpoint.NAME.",
        "enabled": "stopped = true keeps a job stopped.",
        "paused": "stopped = true keeps a job stopped.",
    },
)
