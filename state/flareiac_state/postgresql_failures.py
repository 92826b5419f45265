"""The meaning of a failed statement for a user. Pure: it sees codes and texts of PostgreSQL, no client."""

import re
from typing import Final

_SENTENCES: Final = {
    "28P01": "the server does not accept the password: set PGPASSWORD, or correct it in the password file",
    "28000": "the server does not accept this user from here: check the user and the server's pg_hba.conf",
    "3D000": "the database does not exist: create it, or correct connection in the backend block",
    "42501": (
        "the role lacks a permission: grant it (flareiac/docs/state.md lists the grants of each command)"
    ),
    "25006": "the server or the role is read-only: use the primary server, and a role that may write",
    "3F000": "the schema does not exist: flareiac init creates it",
    "42P01": "the tables of the state do not exist: flareiac init creates them",
    "53100": "the server's disk is full: make room there",
    "53300": "the server has too many connections: run again later",
    "57P01": "the server ended the connection: run again when it is up",
    "57P03": "the server is starting or shutting down: run again when it is up",
    "42883": (
        "the server lacks a function that the state needs, so it is too old or another product: name a "
        "PostgreSQL server in the backend block"
    ),
    "57014": "the server cancelled the statement: run again later",
}
_UNREACHABLE: Final = ("could not translate", "Connection refused", "timed out", "No route", "No such file")
_TEXTS: Final = (
    ("password authentication failed", "28P01"),
    ("no password supplied", "28P01"),
    ("pg_hba.conf", "28000"),
    ('role "', "28000"),
    ('database "', "3D000"),
    ("too many connections", "53300"),
    ("too many clients", "53300"),
)
"""The client tells no code for a connection that was refused; its texts are in English with LC_MESSAGES=C."""
_STATEMENT: Final = re.compile(r"^LINE \d+:.*\n(?:[ \t]*\^.*\n?)?", re.MULTILINE)
"""The line and the mark of the place in a statement at which the server met the failure: the statement is
ours, and tells users nothing.
"""


def refused(code: str | None, text: str) -> str:
    """A statement or a connection that failed."""
    message = " ".join(filter(None, map(str.strip, _STATEMENT.sub("", text).split("\n"))))
    sqlstate = code or next((known for part, known in _TEXTS if part in message), "")
    if sqlstate in _SENTENCES:
        return f"{_SENTENCES[sqlstate]} ({message})"
    if any(part in message for part in _UNREACHABLE):
        return (
            f"the server cannot be reached: check host and port of the backend, and that it runs ({message})"
        )
    if code:
        return (
            f"the server refused a statement of FlareIaC: run again, and look at the server's log ({message})"
        )
    return f"the server cannot be reached, or gave an error: look at its log ({message})"


def unanswered(patience: float) -> str:
    """A statement without an answer."""
    return f"the server gave no answer for {patience:g} s"
