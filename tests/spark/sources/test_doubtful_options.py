"""Options with which files that are read whole lose rows."""

import pytest

from flareiac_spark.sources.doubtful_options import doubtful_in_batch


@pytest.mark.parametrize(
    "options",
    [
        {"Mode": "dropMalformed"},
        {"mode": "PERMISSIVE"},
        {"ignoreCorruptFiles": "TRUE"},
        {"IGNOREMISSINGFILES": "1"},
    ],
)
def test_an_option_that_loses_rows_is_named(options: dict[str, str]) -> None:
    assert [name for name, _why in doubtful_in_batch(options)] == list(options)


@pytest.mark.parametrize(
    "options",
    [{"mode": "failfast"}, {"ignoreCorruptFiles": "false"}, {"latestFirst": "true"}, {"header": "true"}],
)
def test_other_options_are_not(options: dict[str, str]) -> None:
    assert not list(doubtful_in_batch(options))
