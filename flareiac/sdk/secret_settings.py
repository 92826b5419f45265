"""Decides which settings are secrets, and may therefore only be named by reference: one rule for every map of
settings. Pure.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from flareiac.kernel import codes
from flareiac.kernel.data import Data, Reference
from flareiac.kernel.diagnostics import Diagnostic, Diagnostics, error
from flareiac.kernel.paths import Path
from flareiac.kernel.types import MapType, RefType
from flareiac.sdk.references import References
from flareiac.sdk.secrets import KINDS, is_reference

SETTINGS: Final = MapType(RefType(("secret",), or_string=True))
"""Texts by name, or secrets: only where a secret is travels, and who uses the setting reads it."""
_SECRET: Final = re.compile(
    r"pass-?word|passwd|passphrase|secret|token|credential|private[-_.]?key|authorization|api[-_.]?key|cookie|signature|jaas"
    r"|sse\.key$|account[-_.]?key|encryption-key|encryption\.key\.list|decryption-key|connection-string|keystore\.key$",
    re.IGNORECASE,
)
_HARMLESS: Final = re.compile(
    r"[-_.](enabled|ms|uri|url|types?|providers?|impl|mode|seconds|minutes|interval|class|path|regex|count|length)$"
    r"|[-_.]?file$|provider[-_.](path|url)$|oauth2-server-uri|callback\.handler\.class$",
    re.IGNORECASE,
)
_OF_PROVIDER: Final = "client.credentials-provider."
"""The prefix of the settings of a user's own class: only that class knows which of them is secret."""
_HEADER: Final = "header."
_PLAIN_HEADERS: Final = frozenset(
    {
        "accept",
        "content-type",
        "user-agent",
        "x-client-version",
        "x-iceberg-access-delegation",
        "polaris-realm",
        "x-goog-user-project",
    }
)
"""Any other header of a request may be what lets it in."""
_OF_SPARK: Final = re.compile(r"^(spark\.sql\.catalog\.[^.]+|spark\.hadoop)\.")
_REFERENCES: Final = re.compile(r"^spark\.kubernetes\.(driver|executor)\.(secretKeyRef|secrets)\.")
"""Settings that say where a cluster keeps a secret."""
_JAVA_PROPERTY: Final = re.compile(r"(?:^|\s)-D([^\s=]+)=\S")
_SWITCHES: Final = frozenset({"", "true", "false"})
"""Values that are no secret whatever the setting is called."""


def is_secret(name: str) -> bool:
    """Returns True if a setting of this name is a secret, or may be one."""
    plain = _OF_SPARK.sub("", name)
    if _REFERENCES.match(plain) or plain in KINDS:
        return False
    if plain.lower().startswith(_HEADER):
        return plain.lower().removeprefix(_HEADER) not in _PLAIN_HEADERS
    return plain.startswith(_OF_PROVIDER) or (bool(_SECRET.search(plain)) and not _HARMLESS.search(plain))


def holds_secret(text: str) -> bool:
    """Returns True if a text is a URI with a password or a key in it, or JVM options with one; for a URI that
    cannot be parsed, if it may hold one.
    """
    if any(is_secret(match.group(1)) for match in _JAVA_PROPERTY.finditer(text)):
        return True
    try:
        parts = urlsplit(text.removeprefix("jdbc:"))
        parts.port  # noqa: B018  # a password with a / in it shows as what seems to be the port
    except ValueError:
        return "@" in text
    named = [
        name
        for name, _ in parse_qsl(f"{parts.query}&{parts.fragment}".replace(";", "&"), keep_blank_values=True)
    ]
    user = parts.scheme in ("http", "https") and bool(parts.username)
    return user or parts.password is not None or any(is_secret(name) for name in named)


def checked_settings(
    value: Data, at: Path, references: References, diagnostics: Diagnostics
) -> dict[str, str]:
    """Settings by name, sorted, with the text that stands for a secret where one is meant. One that is
    written out is refused.
    """
    settings: dict[str, str] = {}
    for name, setting in _given(value):
        if isinstance(setting, Reference):
            secret = references.get(setting.address)
            if secret is not None:
                settings[name] = str(secret.attributes["reference"])
        elif _is_written_out(name, setting):
            diagnostics.add(_refused(name, at, f'"{name}" = secret.{_label(name)}'))
        else:
            settings[name] = setting
    return settings


def refuse_secrets(value: Data, at: Path, where: str, diagnostics: Diagnostics) -> dict[str, str] | None:
    """Settings by name, sorted, that are kept in clear text (``where`` says it): neither a secret nor a
    reference to one is taken.
    """
    if value is None:
        return None
    settings: dict[str, str] = {}
    for name, setting in _given(value):
        if isinstance(setting, Reference) or _is_written_out(name, setting):
            why = (
                f"{name} in {'.'.join(map(str, at))} is one. {where} Leave it out, and give it to those who "
                "need it: in properties of the catalog or in conf of an engine or a job."
            )
            diagnostics.error(codes.SECRET_IN_CLEAR_TEXT, why, attribute=(*at, name), hide_source=True)
        else:
            settings[name] = setting
    return settings


def _given(value: Data) -> Iterator[tuple[str, Data]]:
    settings: Mapping[str, Data] = value if isinstance(value, dict) else {}
    yield from ((name, setting) for name, setting in sorted(settings.items()) if setting is not None)


def _is_written_out(name: str, text: Data) -> bool:
    return isinstance(text, str) and (
        is_reference(text) or (text.lower() not in _SWITCHES and is_secret(name)) or holds_secret(text)
    )


def _label(name: str) -> str:
    return re.sub(r"\W+", "_", name).strip("_").lower()


def _refused(name: str, at: Path, line: str) -> Diagnostic:
    label = _label(name)
    detail = (
        f"{name} in {'.'.join(map(str, at))} holds one, and what is written here is kept in state and plan "
        f'files. Say where the secret is, and name that: secret "{label}" {{ env = "{label.upper()}" }} (or '
        f'file = "...", or aws_secret = "arn:..."), and then {line}.'
    )
    return error(codes.SECRET_WRITTEN_OUT, detail, attribute=at, hide_source=True)
