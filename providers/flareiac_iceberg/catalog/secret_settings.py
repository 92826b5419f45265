"""Which settings are secrets, and may therefore only be named by reference? Pure."""

import re
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from flareiac.kernel.data import Attributes, Data, Reference
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.paths import Path
from flareiac.sdk.references import References
from flareiac.sdk.secrets import is_reference

_SECRET: Final = re.compile(
    r"password|passwd|secret|token|credential|private[-_.]?key|authorization|api[-_.]?key|cookie|signature"
    r"|sse\.key$|account[-_.]key|encryption-key|decryption-key|connection-string",
    re.IGNORECASE,
)
_HARMLESS: Final = re.compile(r"(-enabled|-ms|-uri|-url|-type|-provider|-impl|-mode|-seconds|-minutes)$|oauth2-server-uri", re.IGNORECASE)
_OF_PROVIDER: Final = "client.credentials-provider."
"""What a user's own class is told: nobody but that class knows which of it is secret."""
_HEADER: Final = "header."
_PLAIN_HEADERS: Final = frozenset(
    {"accept", "content-type", "user-agent", "x-client-version", "x-iceberg-access-delegation", "polaris-realm", "x-goog-user-project"}
)
"""Any other header of a request may be what lets it in."""


def referred(value: Data, attribute: Path, references: References, diagnostics: Diagnostics) -> str | None:
    """The text that stands for the secret which an attribute names."""
    if value is None:
        return None
    found = references.get(value.address) if isinstance(value, Reference) else None
    if found is None or found.type != "secret":
        name = str(attribute[-1])
        diagnostics.error("FII100", f"{name} must be a reference to a secret", _advice(attribute, name))
        return None
    return str(found.attributes["reference"])


def checked_properties(value: Data, references: References, diagnostics: Diagnostics) -> dict[str, str]:
    """Texts by name, sorted, with references where secrets are meant; what is written out and should not be is told."""
    if not isinstance(value, dict):
        if value is not None:
            diagnostics.error("FII108", "properties must be a map", "Write properties = { name = value }.", attribute=("properties",))
        return {}
    found: dict[str, str] = {}
    for name, item in sorted(value.items()):
        if item is not None:
            text = _property(name, item, value, references, diagnostics)
            if text is not None:
                found[name] = text
    return found


def _property(name: str, item: Data, others: Attributes, references: References, diagnostics: Diagnostics) -> str | None:
    at = ("properties", name)
    if isinstance(item, Reference):
        return referred(item, at, references, diagnostics)
    if isinstance(item, bool):
        return "true" if item else "false"
    if not isinstance(item, str | int | float):
        why = "Properties are texts, numbers and references."
        diagnostics.error("FII108", f"The property {name} must be a text", why, attribute=() if is_secret(name) else at)
        return None
    text = str(item)
    secret = text and is_secret(name) and not _names_key(name, text, others)
    if is_reference(text) or secret or holds_secret(text):
        # Without the place: the lines that are shown for it would show the secret.
        diagnostics.error("FII100", f"The property {name} must not hold a secret", _advice(at, name))
        return None
    return text


def _names_key(name: str, text: str, others: Attributes) -> bool:
    """Whether it says which key of a key service is meant, as opposed to the key itself."""
    return name == "s3.sse.key" and (others.get("s3.sse.type") in ("kms", "dsse-kms") or text.startswith(("arn:", "alias/")))


def is_secret(name: str) -> bool:
    """Whether a setting of this name is one, or may be."""
    if name.lower().startswith(_HEADER):
        return name.lower().removeprefix(_HEADER) not in _PLAIN_HEADERS
    return name.startswith(_OF_PROVIDER) or (bool(_SECRET.search(name)) and not _HARMLESS.search(name))


def holds_secret(text: str) -> bool:
    """Whether a text is a URI with a password or a key in it; one that can not be understood is, if it may be."""
    try:
        parts = urlsplit(text)
        parts.port  # noqa: B018  # a password with a / in it is told by what seems to be the port
    except ValueError:
        return "@" in text
    named = [name for name, _ in parse_qsl(f"{parts.query}&{parts.fragment}", keep_blank_values=True)]
    user = parts.scheme in ("http", "https") and bool(parts.username)
    return user or parts.password is not None or any(is_secret(name) for name in named)


def refuse_secret(name: str, text: Data, instead: Path, diagnostics: Diagnostics) -> bool:
    """Whether an attribute's text is a URI with a secret in it, which is told without showing it, with what is to be set ``instead``."""
    if not isinstance(text, str) or not holds_secret(text):
        return False
    diagnostics.error("FII100", f"{name} must not hold a password or a key", _advice(instead, str(instead[-1])))
    return True


def _advice(attribute: Path, name: str) -> str:
    label = re.sub(r"\W+", "_", name).strip("_").lower()
    line = f"credential = secret.{label}" if attribute == ("credential",) else f'"{name}" = secret.{label}'
    line = f"{attribute[0]} = secret.{label}" if len(attribute) == 1 else line
    return (
        "What is written here is kept in state and plan files. Say where the secret is, and name that: "
        f'secret "{label}" {{ env = "{label.upper()}" }} (or file = "...", or aws_secret = "arn:..."), and then {line}.'
    )
