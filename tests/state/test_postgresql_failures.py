"""An answer of a server becomes a sentence that says what to do, without the statement that it was sent."""

import pytest

from flareiac_state.postgresql_failures import refused

_RAW = (
    "ERROR:  permission denied for table state_leases\n"
    "LINE 1: ...SET expires = extract(epoch FROM clock_timestamp()) + 60 WHERE...\n"
    "                                ^\n"
    "HINT:  Ask the owner.\n"
)


@pytest.mark.parametrize("code", ["42501", "25006", "42P01", "XX000", "57P01", "42883", None])
def test_no_statement_is_repeated(code: str | None) -> None:
    said = refused(code, _RAW)
    assert "LINE" not in said
    assert "clock_timestamp" not in said
    assert "^" not in said
    assert "permission denied for table state_leases HINT:  Ask the owner." in said
    assert ": " in said.partition("(")[0], "what to do follows a colon"


@pytest.mark.parametrize(
    "text",
    [
        'connection to server at "127.0.0.1", port 5999 failed: Connection refused\n\tIs the server running?',
        'could not translate host name "db.invalid" to address: Name or service not known',
        'connection to server on socket "/tmp/.s.PGSQL.5432" failed: No such file or directory',
    ],
)
def test_a_server_that_is_not_there_says_what_to_check(text: str) -> None:
    assert refused(None, text).startswith("the server cannot be reached: check host and port of the backend")
