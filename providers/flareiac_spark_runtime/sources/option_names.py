"""Options of Spark's reader by their names in any letter case, as Spark takes them. Pure."""

from collections.abc import Mapping


def option(options: Mapping[str, str], name: str) -> str | None:
    """The text of an option; None where it is not written."""
    return next((text for given, text in options.items() if given.lower() == name.lower()), None)


def is_on(options: Mapping[str, str], name: str) -> bool:
    """Returns True where an option is written and true."""
    return (option(options, name) or "").lower() == "true"
