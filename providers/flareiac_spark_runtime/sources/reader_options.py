"""The options with which Spark reads files, in a stream or in a batch."""

from collections.abc import Mapping

from flareiac.sdk.secrets import resolve_all


def strict(file_format: str, options: Mapping[str, str]) -> dict[str, str]:
    """A record that does not fit fails the batch unless the options say otherwise: Spark's default makes
    nulls of it silently.
    """
    mode = {"mode": "FAILFAST"} if file_format in {"json", "csv", "xml"} else {}
    return {**mode, **resolve_all(options)}


def resolved_options(options: Mapping[str, str]) -> dict[str, str]:
    """Options with the values of their secrets."""
    return dict(resolve_all(options))
