"""Secrets in the settings of a catalog: named by reference, and never written out. Pure."""

import re
from typing import Final

from flareiac.kernel.codes import SECRET_WRITTEN_OUT
from flareiac.kernel.data import Attributes, Data, Reference
from flareiac.kernel.diagnostics import Diagnostic, Diagnostics, error
from flareiac.kernel.paths import Path
from flareiac.sdk.references import References
from flareiac.sdk.secret_settings import holds_secret, is_secret
from flareiac.sdk.secrets import is_reference
from flareiac_iceberg import codes

IN_CLEAR: Final = "Properties are kept in clear text, in the metadata that everybody who reads may read."
"""The reason why properties of tables and namespaces hold no secret, not even by reference."""


def referred(value: Data, attribute: Path, references: References, diagnostics: Diagnostics) -> str | None:
    """The text that stands for the secret which an attribute names."""
    if value is None:
        return None
    secret = references.get(value.address) if isinstance(value, Reference) else None
    if secret is None or secret.type != "secret":
        name = str(attribute[-1])
        why = f"{'.'.join(map(str, attribute))} is not a reference to a secret. {_advice(attribute, name)}"
        diagnostics.error(codes.SECRET_NOT_REFERRED, why, attribute=attribute, hide_source=True)
        return None
    return str(secret.attributes["reference"])


def checked_properties(value: Data, references: References, diagnostics: Diagnostics) -> dict[str, str]:
    """Texts by name, sorted, with references where secrets are meant; what is written out and should not be
    is reported.
    """
    if not isinstance(value, dict):
        if value is not None:
            diagnostics.error(
                codes.PROPERTIES_NOT_TEXTS, "Write properties = { name = value }.", attribute=("properties",)
            )
        return {}
    properties: dict[str, str] = {}
    for name, property_value in sorted(value.items()):
        if property_value is not None:
            text = _property(name, property_value, value, references, diagnostics)
            if text is not None:
                properties[name] = text
    return properties


def _property(
    name: str, property_value: Data, others: Attributes, references: References, diagnostics: Diagnostics
) -> str | None:
    at = ("properties", name)
    if isinstance(property_value, Reference):
        return referred(property_value, at, references, diagnostics)
    if isinstance(property_value, bool):
        return "true" if property_value else "false"
    if not isinstance(property_value, str | int | float):
        why = f"The value of the property {name} is not a text, a number or a reference to a secret."
        diagnostics.error(codes.PROPERTIES_NOT_TEXTS, why, attribute=() if is_secret(name) else at)
        return None
    text = str(property_value)
    secret = text and is_secret(name) and not _names_key(name, text, others)
    if is_reference(text) or secret or holds_secret(text):
        diagnostics.add(_hidden(f"The property {name} holds a secret", _advice(at, name), at))
        return None
    return text


def _names_key(name: str, text: str, others: Attributes) -> bool:
    """Returns True if the setting names a key of a key service, and is not the key itself."""
    return name == "s3.sse.key" and (
        others.get("s3.sse.type") in ("kms", "dsse-kms") or text.startswith(("arn:", "alias/"))
    )


def refuse_secret(name: str, text: Data, instead: Path, diagnostics: Diagnostics) -> bool:
    """Returns True if an attribute's text is a URI with a secret in it, which is reported without showing it,
    with the attribute to set ``instead``.
    """
    if not isinstance(text, str) or not holds_secret(text):
        return False
    diagnostics.add(_hidden(f"{name} holds a password or a key", _advice(instead, str(instead[-1])), (name,)))
    return True


def _hidden(what: str, advice: str, attribute: Path) -> Diagnostic:
    return error(SECRET_WRITTEN_OUT, f"{what}. {advice}", attribute=attribute, hide_source=True)


def _advice(attribute: Path, name: str) -> str:
    label = re.sub(r"\W+", "_", name).strip("_").lower()
    line = f"credential = secret.{label}" if attribute == ("credential",) else f'"{name}" = secret.{label}'
    line = f"{attribute[0]} = secret.{label}" if len(attribute) == 1 else line
    return (
        "What is written here is kept in state and plan files. Say where the secret is, and name that: "
        f'secret "{label}" {{ env = "{label.upper()}" }} (or file = "...", or aws_secret = "arn:..."), and '
        f"then {line}."
    )
