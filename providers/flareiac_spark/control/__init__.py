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
    Maintained,
    Marks,
    Operation,
    Result,
    Target,
    Truncate,
    Truncated,
)
from flareiac_spark.control.processes import Moment, ProcessIdentity, is_running, moment, this_process
from flareiac_spark.control.spec import (
    Dedup,
    FilesInput,
    FilesSource,
    Input,
    JobSpec,
    Merge,
    Output,
    RateSource,
    Restart,
    Source,
    SpecColumn,
    Step,
    StreamInput,
    TableInput,
    TableSource,
    Trigger,
    Watermark,
    job_spec_from_json,
    job_spec_to_json,
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
    "Analysed",
    "ApplicationSettings",
    "ApplicationStatus",
    "ControlDirectory",
    "ControlError",
    "Dedup",
    "Desired",
    "DesiredJob",
    "ErrorSummary",
    "FilesInput",
    "FilesSource",
    "Finding",
    "Finish",
    "Input",
    "JobSpec",
    "JobStatus",
    "Lease",
    "Maintain",
    "Maintained",
    "Marks",
    "Merge",
    "Moment",
    "Operation",
    "Output",
    "OutputResult",
    "ProcessIdentity",
    "QueryStatus",
    "RateSource",
    "Restart",
    "Result",
    "RunResult",
    "Source",
    "SourceLag",
    "SpecColumn",
    "Status",
    "Step",
    "StreamInput",
    "TableInput",
    "TableSource",
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
    "this_process",
]
