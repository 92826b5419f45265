"""A query that Spark refuses as a stream is named so, with what can be written instead."""

import pytest

from flareiac_spark.job.streaming_limits import instead_for_streams


@pytest.mark.parametrize(
    ("message", "instead"),
    [
        (
            "Sorting is not supported on streaming DataFrames/Datasets, unless it is on aggregated",
            "ORDER BY",
        ),
        ("Limits are not supported on streaming DataFrames/Datasets in Update output mode", "LIMIT"),
        (
            "Distinct aggregations are not supported on streaming DataFrames/Datasets",
            "approx_count_distinct",
        ),
        (
            "NON_TIME_WINDOW: Window function is not supported on streaming Datasets",
            "OVER",
        ),
        (
            "STREAMING_OUTPUT_MODE: not supported for x without watermark on streaming DataFrames",
            "Declare a watermark",
        ),
        (
            "Stream-stream LeftOuter join of two streaming DataFrames is not supported without a watermark",
            "both sides",
        ),
        ("STREAMING_OUTPUT_MODE.X: This output mode is not supported for y on streaming DataFrames", "mode"),
        ("pivot is not supported on a streaming DataFrames/Datasets", "batch job"),
    ],
)
def test_what_a_stream_cannot_do(message: str, instead: str) -> None:
    assert instead in str(instead_for_streams(message))


@pytest.mark.parametrize(
    "message",
    [
        "INSERT_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS: Cannot write to `lake`.`a`.`b`",
        'INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_SAFELY_CAST: Cannot safely cast `streams` "STRING" to "INT"',
        "UNRESOLVED_COLUMN.WITH_SUGGESTION: A column with name `stream` cannot be resolved",
        "the column order is not supported",
    ],
)
def test_another_failure_is_none_of_these(message: str) -> None:
    assert instead_for_streams(message) is None
