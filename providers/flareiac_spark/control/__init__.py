"""The control directory: the files through which the command line and a Spark application meet.

Standard library only, because the application imports it too. Knows records and files; never starts a
process, never touches Spark, and decides nothing about jobs. Hands typed records to the application's driver
and to those who tell it what should run.
"""

from flareiac_spark.control.desired import ApplicationSettings, Desired, DesiredJob
from flareiac_spark.control.directory import ControlDirectory
from flareiac_spark.control.errors import ControlError, Trouble
from flareiac_spark.control.lease import Lease
from flareiac_spark.control.operations import (
    Analysed,
    Finding,
    Finish,
    Maintain,
    Marks,
    Operation,
    Result,
    Target,
    Truncate,
    Truncated,
)
from flareiac_spark.control.processes import Moment, ProcessIdentity, is_running, moment, this_process
from flareiac_spark.control.spec import (
    ALL,
    AvroValue,
    Dedup,
    FilesInput,
    Header,
    Input,
    JobSpec,
    KafkaOutput,
    Merge,
    Output,
    Restart,
    Step,
    StreamInput,
    TableInput,
    TableOutput,
    Trigger,
    Watermark,
    job_spec_from_json,
    job_spec_to_json,
    tables_among,
)
from flareiac_spark.control.status import (
    ApplicationStatus,
    ErrorSummary,
    JobStatus,
    OutputResult,
    QueryStatus,
    RunResult,
    SourceLag,
    Status,
)

__all__ = [
    "ALL",
    "Analysed",
    "ApplicationSettings",
    "ApplicationStatus",
    "AvroValue",
    "ControlDirectory",
    "ControlError",
    "Dedup",
    "Desired",
    "DesiredJob",
    "ErrorSummary",
    "FilesInput",
    "Finding",
    "Finish",
    "Header",
    "Input",
    "JobSpec",
    "JobStatus",
    "KafkaOutput",
    "Lease",
    "Maintain",
    "Marks",
    "Merge",
    "Moment",
    "Operation",
    "Output",
    "OutputResult",
    "ProcessIdentity",
    "QueryStatus",
    "Restart",
    "Result",
    "RunResult",
    "SourceLag",
    "Status",
    "Step",
    "StreamInput",
    "TableInput",
    "TableOutput",
    "Target",
    "Trigger",
    "Trouble",
    "Truncate",
    "Truncated",
    "Watermark",
    "is_running",
    "job_spec_from_json",
    "job_spec_to_json",
    "moment",
    "tables_among",
    "this_process",
]
