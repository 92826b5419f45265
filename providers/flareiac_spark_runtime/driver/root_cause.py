"""The root cause of an error: its class and message, without the layers that Spark and Java wrapped around
it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.secrets import masked
from flareiac_spark_runtime.control import ErrorSummary
from flareiac_spark_runtime.driver import executor_errors, kafka_errors, task_errors
from flareiac_spark_runtime.driver.bad_records import ERROR_CLASS as BAD_RECORD
from flareiac_spark_runtime.driver.bad_records import complaint_in, ways_on
from flareiac_spark_runtime.driver.conflicts import conflict_text, is_conflict
from flareiac_spark_runtime.driver.outputs import NULL_REQUIRED, null_complaint_in
from flareiac_spark_runtime.driver.raised import raised
from flareiac_spark_runtime.driver.refusal import Refusal
from flareiac_spark_runtime.driver.stored_values import MALFORMED_UUID
from flareiac_spark_runtime.sources.bad_records import NOT_UTF8, NUMBER_NOT_HELD

_LINES = 6
_LENGTH = 1200
_WRAPPERS = frozenset(
    {"STREAM_FAILED", "WRITING_JOB_ABORTED", "TASK_WRITE_FAILED", "INTERNAL_ERROR", "FAILED_EXECUTE_UDF"}
)
_WRAPPER_CLASSES = frozenset(
    {
        "InvocationTargetException",
        "ExecutionException",
        "UncheckedExecutionException",
        "UndeclaredThrowableException",
    }
)
_PERMANENT_CONDITIONS = (
    "NOT_COMPATIBLE",
    "INCOMPATIBLE",
    "NOT_MATCH_IN_STATE_METADATA",
    "UNSUPPORTED_STREAMING",
)
_PERMANENT_TEXTS = (
    "sources in the checkpoint",
    "Cannot load current offset at snapshot",  # Iceberg: the snapshot of the last offset was expired
    # Iceberg: the stream's table was overwritten, and the stream does not skip that
    "Cannot process overwrite snapshot",
    "Cannot process delete snapshot",
)
_IN_TEXT = re.compile(r"\[([A-Z][A-Z0-9_]+(?:\.[A-Z0-9_]+)*)\] (.*)", re.DOTALL)
_FILE = re.compile(r"while reading file (\S+?)\.(?:\s|$)")
_PYTHON = "Traceback (most recent call last):\n"
_PYTHON_FRAME = re.compile(r'\s+File "(?:.*/code/[0-9a-f]{32}/)?(.+)", line (\d+), in ')
_HINT = re.compile(
    r"\s*To process malformed records as null result, try setting the option 'mode' as 'PERMISSIVE'\.?"
)
_PLAN = "=== Streaming Query ==="
_FILE_GONE = "FAILED_READ_FILE.FILE_NOT_EXIST"
_WITHOUT_IT = (
    "It was deleted after the batch that reads it had begun. Put it back; or, to go on without its rows, "
    "write in the job: "
    'conf = { "spark.sql.files.ignoreMissingFiles" = "true" }.'
)
_MALFORMED = (
    "MALFORMED_RECORD_IN_PARSING",
    "MALFORMED_CSV_RECORD",
    "CANNOT_PARSE_JSON_FIELD",
    "FAILED_READ_FILE.PARSE",
)
_UNREADABLE = "FAILED_READ_FILE"
_NO_HINT = "FAILED_READ_FILE.NO_HINT"
_UNHEALED = (
    "Relative path in absolute URI",  # Hadoop: a colon in the name of the file
    "Illegal character in",
    "CSV header",
    "PARQUET_",
    "is not a Parquet file",
    "TextParsingException",
    "not in GZIP format",
    "incorrect header check",
)
"""Parts of what is said of a file that gives the same error each time it is read."""
_FILE_WAYS = {
    "CSV header": (
        "The header line of the file does not name the columns of the stream in their order: correct the "
        "file, or the order of the columns."
    ),
    "Relative path in absolute URI": "Hadoop reads no file with a colon in its name: rename it.",
    "Unescaped quote character": (
        "Inside a quoted field a quote is written twice. Correct the file; or, where it was written with "
        'backslashes, write in its stream: options = { escape = "\\" }.'
    ),
    "Unexpected end of": "The file is cut off: put the whole file in its place.",
}
"""The advice for an error, by a part of its message."""
_LOST_STATE = re.compile(r"CANNOT_LOAD_STATE_STORE\.(CANNOT_READ_|CANNOT_FIND_|UNEXPECTED_FILE_SIZE)")
_STATE_WAY_OUT = (
    "The state of the checkpoint has lost this file, or it is cut off. Put back a whole copy of the "
    "checkpoint's folder, or raise its generation: what is open in the state is lost then, unless the new "
    "generation reads everything again."
)
_SQLSTATE = re.compile(r"\s*SQLSTATE: \w{5}\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One throwable of a chain of causes. ``condition`` is Spark's error condition where it has one."""

    class_name: str
    condition: str | None
    message: str


def root_cause_of(failure: BaseException) -> ErrorSummary:
    """The root cause of anything that pyspark, py4j or the driver itself raised."""
    if isinstance(failure, Refusal):
        return ErrorSummary(
            error_class=failure.error_class, message=masked(str(failure)), permanent=failure.permanent
        )
    throwable = _throwable(failure)
    if throwable is not None:
        return root_cause_of_java(throwable)
    condition = failure.getCondition() if hasattr(failure, "getCondition") else None
    return choose([Link(class_name=type(failure).__name__, condition=condition, message=str(failure))])


def root_cause_of_java(throwable: Any) -> ErrorSummary:
    """The root cause of a Java exception."""
    return choose(list(_links(throwable)), task_errors.failed_tasks)


def choose(
    chain: Sequence[Link], failed_tasks: executor_errors.FailedTasks = lambda _stage, _attempt: ()
) -> ErrorSummary:
    """The root cause of a chain of causes, outermost first (at least one). ``failed_tasks``: what else failed
    in a stage.
    """
    # Before anything is cut off: half a secret is one that is not recognised.
    chain = [replace(link, message=masked(link.message)) for link in chain]
    # The plan of a query, which its failure ends with, holds the text of every complaint it might make.
    said = [link.message.partition(_PLAN)[0] for link in chain]
    for name, complaint_of in (
        (BAD_RECORD, complaint_in),
        (NULL_REQUIRED, null_complaint_in),
        (MALFORMED_UUID, partial(raised, MALFORMED_UUID)),
        (NOT_UTF8, partial(raised, NOT_UTF8)),
        (NUMBER_NOT_HELD, partial(raised, NUMBER_NOT_HELD)),
    ):
        if (complaint := next(filter(None, map(complaint_of, said)), None)) is not None:
            return ErrorSummary(error_class=name, message=complaint, permanent=False)
    error_class, message = (
        executor_errors.error_in(chain, failed_tasks) or kafka_errors.error_in(chain) or _innermost(chain)
    )
    lines = _first_lines(message)
    if (place := _place(chain)) and place not in lines:
        lines = f"{lines}\n{place}"
    text = _with_way_out(error_class, message, lines)
    return ErrorSummary(error_class=error_class, message=text, permanent=_is_permanent(chain, error_class))


def _innermost(chain: Sequence[Link]) -> tuple[str, str]:
    """The class and the message of the link that tells most: the last one with a condition of its own."""
    telling = [link for link in chain if link.condition and link.condition not in _WRAPPERS]
    if telling and telling[-1].condition == _NO_HINT:
        below = [link for link in chain[chain.index(telling[-1]) + 1 :] if link.message]
        if below:
            said = f"{below[-1].message} ({_short(below[-1].class_name)})"
            return _NO_HINT, said
    if telling:
        return str(telling[-1].condition), telling[-1].message
    spoken = [link for link in chain if link.message and _short(link.class_name) not in _WRAPPER_CLASSES]
    link = (spoken or chain)[-1]
    inner = _IN_TEXT.search(link.message)
    if inner is not None and inner.group(1) not in _WRAPPERS:
        # A failed task's exception may survive only as text inside the message of its stage.
        return inner.group(1), inner.group(2)
    return link.condition or _short(link.class_name), link.message


def _with_way_out(error_class: str, message: str, lines: str) -> str:
    if error_class.startswith(_MALFORMED) or _HINT.search(message):
        lines = f"{_HINT.sub('', lines)}\n{ways_on()}"
    if error_class == _FILE_GONE:
        lines = f"{lines.partition(' It is possible')[0]}\n{_WITHOUT_IT}"
    if is_conflict(message):
        lines = conflict_text(message)
    if error_class.startswith(_UNREADABLE) or "CSV header" in message:
        lines = "\n".join([lines, *(way for said, way in _FILE_WAYS.items() if said in message)])
    if (way := kafka_errors.way_out(error_class) or executor_errors.way_out(error_class)) is not None:
        lines = f"{lines}\n{way}"
    if _LOST_STATE.search(error_class):
        lines = f"{lines}\n{_STATE_WAY_OUT}"
    return lines


def is_refused(failure: BaseException) -> bool:
    """Returns True if Iceberg refused a commit because of what another program had committed: nothing of it
    is in the table.
    """
    throwable = _throwable(failure)
    return throwable is not None and any(is_conflict(link.message) for link in _links(throwable))


def stack_of(failure: BaseException) -> str | None:
    """The whole Java stack for the log, None if no Java is involved."""
    throwable = _throwable(failure)
    if throwable is None:
        return None
    from pyspark import SparkContext

    jvm: Any = SparkContext._jvm
    return str(jvm.org.apache.commons.lang3.exception.ExceptionUtils.getStackTrace(throwable))


def _throwable(failure: BaseException) -> Any:
    """The Java exception that pyspark or py4j raised it for; None where there is none."""
    return getattr(failure, "java_exception", None) or getattr(failure, "_origin", None)


def _place(chain: Sequence[Link]) -> str | None:
    """The file that could not be read: an outer layer names it, and the person who repairs it needs to
    know.
    """
    for link in chain:
        if (link.condition or "").startswith("FAILED_READ_FILE") or "FAILED_READ_FILE" in link.message:
            match = _FILE.search(link.message)
            return f"in the file {match.group(1)}" if match else None
    return None


def _links(throwable: Any) -> Iterator[Link]:
    from py4j.java_gateway import is_instance_of
    from pyspark import SparkContext

    gateway = SparkContext._gateway
    for _ in range(30):
        if throwable is None:
            return
        spark = is_instance_of(gateway, throwable, "org.apache.spark.SparkThrowable")
        yield Link(
            class_name=throwable.getClass().getName(),
            condition=throwable.getCondition() if spark else None,
            message=throwable.getMessage() or "",
        )
        throwable = throwable.getCause()


def _is_permanent(chain: Sequence[Link], error_class: str) -> bool:
    """The same start would fail the same way: what is written does not resolve, its state does not fit, or
    its offsets are gone.
    """
    if any(_short(link.class_name).endswith(("AnalysisException", "ParseException")) for link in chain):
        return True
    if _LOST_STATE.search(error_class) or any(word in error_class for word in _PERMANENT_CONDITIONS):
        return True
    if any(_UNREADABLE in f"{link.condition} {link.message}" for link in chain):
        return any(text in f"{link.condition} {link.message}" for link in chain for text in _UNHEALED)
    return any(text in link.message for link in chain for text in _PERMANENT_TEXTS)


def _first_lines(message: str) -> str:
    if message.lstrip().startswith(_PYTHON):
        message = _end_of_traceback(message)
    message = message.split(";\n", 1)[0]  # an analysis error is followed by the whole plan
    message = _SQLSTATE.sub("", _IN_TEXT.sub(r"\2", message, count=1) if message.startswith("[") else message)
    kept = []
    for line in message.strip().splitlines():
        if line.startswith(("\tat ", "JVM stacktrace", _PLAN, "Driver stacktrace")):
            break
        kept.append(line.rstrip())
    return "\n".join([line for line in kept if line][:_LINES])[:_LENGTH].rstrip(" ;")


def _end_of_traceback(message: str) -> str:
    """``score.py:5: ValueError: ...``: a worker's traceback ends with what went wrong, and begins with how it
    came there.
    """
    place, known = "", list[str]()
    for line in message.rpartition(_PYTHON)[2].splitlines():
        if match := _PYTHON_FRAME.match(line):
            place, known = f"{match.group(1)}:{match.group(2)}: ", []
        elif known or (line and not line[0].isspace()):
            known.append(line)
    return place + "\n".join(known)


def _short(class_name: str) -> str:
    return class_name.rpartition(".")[2].rpartition("$")[2]
