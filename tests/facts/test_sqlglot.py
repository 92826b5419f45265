"""The part of Spark's SQL that sqlglot reads, on which the comparison of two definitions of a job rests."""

import pytest
import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError

DIALECTS = ["spark", "spark2", "databricks"]
FIRST = "SELECT window(at, '1 hour') AS w, k, count(*) AS c FROM s GROUP BY window(at, '1 hour'), k"
LATER = "SELECT window(at, '1 hour') AS w, k, count(*) AS c FROM s GROUP BY k, window(at, '1 hour')"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_group_by_that_begins_with_window_is_not_parsed(dialect: str) -> None:
    """The reader of a job's SQL puts ``window`` in back quotes before it hands a statement to sqlglot."""
    with pytest.raises(ParseError):
        sqlglot.parse_one(FIRST, dialect=dialect)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("sql", [FIRST.replace("window(", "`window`("), LATER])
def test_group_by_window_is_parsed_quoted_or_later_in_the_list(sql: str, dialect: str) -> None:
    """The back quotes change nothing but that it is read: both keys are found."""
    group = sqlglot.parse_one(sql, dialect=dialect).find(exp.Group)
    assert group is not None
    assert len(group.expressions) == 2
