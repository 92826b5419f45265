"""Ivy's report of a failed fetch becomes one sentence with the cause, and never Ivy's own words for a jar."""

import re

import pytest

from flareiac_spark.runtime.coordinates import Coordinate
from flareiac_spark.runtime.ivy_report import not_fetched

_JARS = (Coordinate("org.example", "thing", "1.0"), Coordinate("org.example", "other", "2"))
_REPORT = """\
:: resolving dependencies :: flareiac#jars;working@vm [not transitive]
:: problems summary ::
:::: WARNINGS
{warning}
\t\tmodule not found: org.example#thing;1.0

\t==== local-m2: tried
\t  file:///home/user/.m2/repository/org/example/thing/1.0/thing-1.0.jar
\t==== central: tried
\t  https://key:secret@jars.example/maven2/org/example/thing/1.0/thing-1.0.jar

\t\t:: org.example#thing;1.0: not found
:::: ERRORS
{error}
:: USE VERBOSE OR DEBUG MESSAGE LEVEL FOR MORE DETAILS
"""
_URL = "https://key:secret@jars.example/maven2/org/example/thing/1.0/thing-1.0.jar"


def _access(kind: str) -> str:
    return f"\tServer access error at url {_URL} ({kind})"


@pytest.mark.parametrize(
    ("warning", "error", "why", "advice"),
    [
        (
            "",
            "",
            "No repository (jars.example) has org.example:thing:1.0, or it refuses",
            "group, artifact and",
        ),
        (
            "",
            _access("java.net.ConnectException: Connection refused"),
            "The repository at jars.example cannot be reached (Connection refused).",
            "the network",
        ),
        (
            "",
            _access("java.net.SocketTimeoutException: connect timed out"),
            "reached (connect timed out)",
            "network",
        ),
        ("", _access("java.net.NoRouteToHostException"), "reached (NoRouteToHostException)", "network"),
        (
            "\tHost jars.example not found. url=" + _URL,
            "",
            "The name jars.example cannot be resolved",
            "network",
        ),
        (
            "",
            _access("javax.net.ssl.SSLHandshakeException: PKIX path building failed: unable to find path"),
            "Java does not trust the certificate of jars.example.",
            "trustStore",
        ),
        (
            "",
            _access("javax.net.ssl.SSLException: Unsupported message"),
            "does not answer by TLS",
            "trustStore",
        ),
        ("\tYour proxy requires authentication.", "", "The proxy asks for a password.", "proxyPassword"),
        (
            "",
            f"\tSERVER ERROR: Bad Gateway url={_URL}",
            "The repository at jars.example answers with an error (Bad Gateway).",
            "later",
        ),
        (
            "",
            "\t[FAILED     ] thing.jar: invalid sha1: expected=00 computed=11 (2ms)",
            "The sha1 of a jar",
            "Ask who",
        ),
        (
            "",
            "java.io.IOException: No space left on device",
            "A jar could not be written (No space",
            "Make room",
        ),
        (
            "\t\t:: org.example#thing;1.0: java.net.MalformedURLException: no protocol: jars/org",
            "",
            "The address of a repository is not a URL.",
            "https://HOST",
        ),
    ],
)
def test_one_sentence_names_the_cause(warning: str, error: str, why: str, advice: str) -> None:
    answer = not_fetched(_REPORT.format(warning=warning, error=error), _JARS)
    assert why in answer.why
    assert advice in answer.advice
    said = answer.why + answer.advice
    assert not re.search(r"secret|key:|#|::|module not found|Server access error|url=|java\.", said)


def test_a_report_that_is_not_known_keeps_its_exception() -> None:
    answer = not_fetched("java.text.ParseException: the settings end early\n\tat org.x.Y(Z.java:1)\n", _JARS)
    assert answer.why == "Ivy ended without the jars (java.text.ParseException: the settings end early)."
    assert not_fetched("", _JARS).why == "Ivy ended without the jars (no cause)."
