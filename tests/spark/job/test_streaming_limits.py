"""What Spark refuses in a stream is named as that, with what can be written instead."""

import pytest

from flareiac_spark.job.streaming_limits import instead_for_streams


@pytest.mark.parametrize(
    ("message", "instead"),
    [
        (
            "Sorting is not supported on streaming DataFrames/Datasets, unless it is on aggregated "
            "DataFrame/Dataset in Complete output mode",
            "ORDER BY",
        ),
        ("Limits are not supported on streaming DataFrames/Datasets in Update output mode", "LIMIT"),
        (
            "Distinct aggregations are not supported on streaming DataFrames/Datasets. Consider using "
            "approx_count_distinct() instead",
            "approx_count_distinct",
        ),
        (
            "NON_TIME_WINDOW_NOT_SUPPORTED_IN_STREAMING: Window function is not supported in ROW_NUMBER() (as "
            "column `n`) on streaming DataFrames/Datasets",
            "OVER",
        ),
        (
            "STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION: Invalid streaming output mode: append. This output mode "
            "is not supported for streaming aggregations without watermark on streaming DataFrames/DataSets",
            "Declare a watermark",
        ),
        (
            "Stream-stream LeftOuter join between two streaming DataFrame/Datasets is not supported without a "
            "watermark in the join keys",
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
