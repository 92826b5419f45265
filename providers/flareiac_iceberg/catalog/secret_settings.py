"""Which settings are secrets, and may therefore only be named by reference? Pure."""

import re
from typing import Final
from urllib.parse import urlsplit

from flareiac.kernel.data import Data, Reference
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.paths import Path
from flareiac.sdk.references import References
from flareiac.sdk.secrets import is_reference

_SECRET: Final = re.compile(r"password|passwd|secret|token|credential|private[-_.]?key|authorization|apikey|api[-_.]key", re.IGNORECASE)
_HARMLESS: Final = re.compile(
    r"(-enabled|-ms|-uri|-url|-type|-provider(\..*)?|-impl|-mode|-seconds|-minutes)$|oauth2-server-uri", re.IGNORECASE
)


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
            text = _property(name, item, references, diagnostics)
            if text is not None:
                found[name] = text
    return found


def _property(name: str, item: Data, references: References, diagnostics: Diagnostics) -> str | None:
    at = ("properties", name)
    if isinstance(item, Reference):
        return referred(item, at, references, diagnostics)
    if isinstance(item, bool):
        return "true" if item else "false"
    if not isinstance(item, str | int | float):
        diagnostics.error("FII108", f"The property {name} must be a text", "Properties are texts, numbers and references.", attribute=at)
        return None
    text = str(item)
    if is_reference(text) or (text and is_secret(name)) or has_password(text):
        # Without the place: the lines that are shown for it would show the secret.
        diagnostics.error("FII100", f"The property {name} must not hold a secret", _advice(at, name))
        return None
    return text


def is_secret(name: str) -> bool:
    """Whether a setting of this name is one."""
    return bool(_SECRET.search(name)) and not _HARMLESS.search(name)


def has_password(text: str) -> bool:
    """Whether a text is a URI with a password in it."""
    try:
        return urlsplit(text).password is not None
    except ValueError:
        return False


def refuse_password(uri: str, diagnostics: Diagnostics) -> str:
    """The URI without its password, which is told."""
    if not has_password(uri):
        return uri
    diagnostics.error("FII100", "uri must not hold a password", _advice(("credential",), "catalog_password"))
    head, _, tail = uri.partition("://")
    user, _, rest = tail.rpartition("@")
    return f"{head}://{user.partition(':')[0]}@{rest}"


def _advice(attribute: Path, name: str) -> str:
    label = re.sub(r"\W+", "_", name).strip("_").lower()
    line = f"credential = secret.{label}" if attribute == ("credential",) else f'"{name}" = secret.{label}'
    line = f"{attribute[0]} = secret.{label}" if len(attribute) == 1 else line
    return (
        "What is written here is kept in state and plan files. Say where the secret is, and name that: "
        f'secret "{label}" {{ env = "{label.upper()}" }} (or file = "...", or aws_secret = "arn:..."), and then {line}.'
    )
