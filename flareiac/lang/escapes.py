"""The texts of quoted strings and heredocs as written, and as meant."""

import re

_SEQUENCE = re.compile(r'\\(?:([nrt"\\])|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8}))|\$\$\{|%%\{')
_DOUBLED = re.compile(r"\$\$\{|%%\{")
_PLAIN = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}


def unescape_quoted(text: str) -> str:
    """The meaning of what stands between quotes. A code point that Unicode does not have becomes U+FFFD."""
    if "\\" not in text and "{" not in text:
        return text
    return _SEQUENCE.sub(_meaning, text)


def unescape_heredoc(text: str) -> str:
    """The meaning of a heredoc's text, which knows the doubled ``$${`` and ``%%{`` only."""
    return _DOUBLED.sub(lambda match: match.group()[1:], text) if "{" in text else text


def _meaning(match: re.Match[str]) -> str:
    plain, short, long = match.groups()
    if plain:
        return _PLAIN[plain]
    if short or long:
        code = int(short or long, 16)
        return "\ufffd" if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF else chr(code)
    return match.group()[1:]


def quote(text: str) -> str:
    """A quoted string that means ``text``."""
    out = (
        text.replace("\\", "\\\\")
        .replace('"', '\\"')
        .replace("\n", "\\n")
        .replace("\r", "\\r")
        .replace("\t", "\\t")
    )
    return '"' + out.replace("${", "$${").replace("%{", "%%{") + '"'
