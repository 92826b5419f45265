"""Says in one sentence why Ivy did not fetch a jar, from the report that it prints. Pure.

Ivy prints "not found" for each jar whatever the reason is; the reason, where there is one, stands in another
line. It does not tell a server that refuses access from one that does not have the file.
"""

import re
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias
from urllib.parse import urlsplit

from flareiac_spark.runtime.coordinates import Coordinate
from flareiac_spark.runtime.fetch_client import NotFetched

_MIRROR: Final = "Behind a mirror, set DEFAULT_ARTIFACT_REPOSITORY to its address."
_PROXY: Final = "A proxy of Java goes into SPARK_SUBMIT_OPTS (-Dhttps.proxyHost=HOST -Dhttps.proxyPort=PORT)."
_TRUST: Final = "Give Java the certificate: SPARK_SUBMIT_OPTS=-Djavax.net.ssl.trustStore=FILE."
_AGAIN: Final = (
    "Run init again later, or set DEFAULT_ARTIFACT_REPOSITORY to the address of another repository."
)
_ADDRESSES: Final = "DEFAULT_ARTIFACT_REPOSITORY, or spark.jars.repositories in spark-defaults.conf"
_NETWORK: Final = f"Check the network of this machine. {_MIRROR} {_PROXY}"

_Reason: TypeAlias = Callable[[re.Match[str]], tuple[str, str]]


def not_fetched(output: str, coordinates: Sequence[Coordinate]) -> NotFetched:
    """The cause and the way out, from all that Ivy printed about a fetch of these jars that failed."""
    for pattern, reason in _REASONS:
        if match := pattern.search(output):
            why, advice = reason(match)
            return NotFetched(f"{why}.", advice)
    absent = [
        coordinate
        for coordinate in coordinates
        if f"{coordinate.group}#{coordinate.artifact};{coordinate.version}: not found" in output
    ]
    if absent:
        hosts = _hosts(output)
        where = f" ({', '.join(hosts)})" if hosts else ""
        names = ", ".join(map(str, absent))
        own = "A repository of your own goes into DEFAULT_ARTIFACT_REPOSITORY."
        return NotFetched(
            f"No repository{where} has {names}, or it refuses access.",
            f"Check group, artifact and version of the package. {own}",
        )
    said = re.search(r"^.*\w(?:Exception|Error)\b.*$", output, re.MULTILINE)
    return NotFetched(f"Ivy ended without the jars ({said[0].strip() if said else 'no cause'}).", _NETWORK)


def _access(match: re.Match[str]) -> tuple[str, str]:
    host, kind, text = _host(match[1]), match[2], (match[3] or "").strip().rstrip(".")
    said = f" ({text})" if text else f" ({kind})"
    if "PKIX" in text or "certif" in text:
        return f"Java does not trust the certificate of {host}", _TRUST
    if kind.startswith("SSL"):
        return (
            f"The repository at {host} does not answer by TLS as Java expects it{said}",
            f"{_MIRROR} {_PROXY} {_TRUST}",
        )
    return f"The repository at {host} cannot be reached{said}", _NETWORK


def _host(url: str) -> str:
    """The host and the port of an address: it may hold a password."""
    return urlsplit(url).netloc.rpartition("@")[2] or url


def _hosts(output: str) -> list[str]:
    """The servers that were asked, in the order of the report."""
    return list(dict.fromkeys(map(_host, re.findall(r"https?://\S+", output))))


_REASONS: Final[tuple[tuple[re.Pattern[str], _Reason], ...]] = (
    (
        re.compile(r"No space left on device|Disk quota exceeded"),
        lambda match: (f"A jar could not be written ({match[0]})", "Make room for the cache of jars."),
    ),
    (
        re.compile(r"invalid (sha\d+|md5): expected"),
        lambda match: (
            f"The {match[1]} of a jar is not the one that the repository names for it",
            "Ask who runs the repository, or set DEFAULT_ARTIFACT_REPOSITORY to the address of another one.",
        ),
    ),
    (
        re.compile(r"Server access error at url (\S+) \((?:[\w.]+\.)?(\w+)(?:: ([^\n]*))?\)"),
        _access,
    ),
    (
        re.compile(r"Host (\S+) not found\."),
        lambda match: (
            f"The name {match[1]} cannot be resolved: there is no network, or no such host",
            _NETWORK,
        ),
    ),
    (
        re.compile(r"Your proxy requires authentication"),
        lambda _match: (
            "The proxy asks for a password",
            "Write -Dhttps.proxyUser=USER and -Dhttps.proxyPassword=PASSWORD into SPARK_SUBMIT_OPTS.",
        ),
    ),
    (
        re.compile(r"SERVER ERROR: (.+?) url=(\S+)"),
        lambda match: (f"The repository at {_host(match[2])} answers with an error ({match[1]})", _AGAIN),
    ),
    (
        re.compile(r"MalformedURLException: (.*)"),
        lambda _match: (
            "The address of a repository is not a URL",
            f"Write it with its protocol, such as https://HOST/maven2/: {_ADDRESSES}.",
        ),
    ),
)
"""The messages that Ivy prints, the most certain cause first."""
