"""A file of Spark's settings, for ``spark-submit --properties-file``."""

from collections.abc import Mapping
from pathlib import Path

from flareiac.kernel.durable_files import write_new


def write_properties(path: Path, conf: Mapping[str, str]) -> None:
    """A file of settings that only its owner can read. Raises ``OSError``."""
    path.unlink(missing_ok=True)
    lines = (f"{_escape(key, ' :=#!')}={_escape(value, '')}\n" for key, value in conf.items())
    write_new(path, "".join(lines).encode("ascii"))


def _escape(text: str, special: str) -> str:
    """In the format of ``java.util.Properties``."""
    shown = []
    for at, letter in enumerate(text):
        if letter == "\\" or letter in special or (letter == " " and at == 0):
            shown.append("\\" + letter)
        elif letter in "\n\r\t":
            shown.append({"\n": "\\n", "\r": "\\r", "\t": "\\t"}[letter])
        elif letter.isascii():
            shown.append(letter)
        else:
            units = letter.encode("utf-16-be")
            shown.extend(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))
    return "".join(shown)
