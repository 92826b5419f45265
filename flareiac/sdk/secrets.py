"""References to secrets: texts that name where a secret is kept and may appear in state, plans and logs, and
their values at the moment of use.

    flareiac-secret:env:NAME    flareiac-secret:file:/absolute/path    flareiac-secret:aws_secret:ARN

Whatever needs a secret resolves it by itself: nothing else of it travels. A place outside the machine has a
store, which an installed package declares as an entry point of the group ``flareiac.secret_stores``:
``KIND = "module:function"``. Standard library only.
"""

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final, Protocol

from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Failure, error
from flareiac.kernel.secret_masks import masked, remember
from flareiac.sdk.plug_ins import plug_in

__all__ = ["KINDS", "masked", "remember"]
GROUP: Final = "flareiac.secret_stores"
"""The entry points of stores."""
KINDS: Final = ("env", "file", "aws_secret")
_PREFIX: Final = "flareiac-secret:"
_MOST_BYTES: Final = 64 * 1024


class SecretStore(Protocol):
    """Returns the secret that is kept at a place. Raises the ``Failure`` of ``unavailable``."""

    def __call__(self, place: str, /) -> str: ...


def reference(kind: str, place: str) -> str:
    """The text that stands for the secret. ``kind`` is one of ``KINDS``."""
    return f"{_PREFIX}{kind}:{place}"


def is_reference(text: object) -> bool:
    """Returns True if a value is a reference to a secret."""
    return isinstance(text, str) and text.startswith(_PREFIX)


def kind_of(text: str) -> str:
    """Returns the kind of a reference, one of ``KINDS``."""
    return text.removeprefix(_PREFIX).partition(":")[0]


def resolve(text: str) -> str:
    """The secret that a text stands for; any other text is returned as it is. Raises ``Failure``, which never
    shows the secret.
    """
    if not is_reference(text):
        return text
    secret = _resolved(kind_of(text), text.removeprefix(_PREFIX).partition(":")[2])
    remember(secret)
    return secret


def _resolved(kind: str, place: str) -> str:
    match kind:
        case "env":
            return _of_variable(place)
        case "file":
            return _of_file(Path(place))
        case _:
            store = _store_of(kind)
            if store is None:
                raise unavailable(
                    "this version of FlareIaC does not know this kind of reference",
                    "Use the version that wrote it, or a later one.",
                )
            return store(place)


@cache
def _store_of(kind: str) -> SecretStore | None:
    """The store of a kind, None where no installed package brings one. Raises ``Failure`` where two do."""
    store: SecretStore | None = plug_in(GROUP, kind)
    return store


def resolve_all(settings: Mapping[str, str]) -> dict[str, str]:
    """Settings with their secrets filled in. Raises ``Failure``."""
    return {name: resolve(value) for name, value in settings.items()}


def secret_file(path: Path, *, most: int = -1) -> bytes:
    """A file that holds a secret: all of it, or so many bytes. Raises OSError.

    Where the files of a mounted volume are replaced meanwhile, the old one is removed while its path is
    followed: it is then opened again.
    """
    for is_last in (False, False, True):
        try:
            with path.open("rb") as file:
                return file.read(most)
        except FileNotFoundError:
            if is_last:
                raise
    raise AssertionError("the last attempt returns or raises")


def said(failure: object) -> str:
    """The complaint of a client, in words and without secrets; a header that it could not send, and would
    show, may be one.
    """
    text = masked(" ".join(str(getattr(failure, "strerror", None) or failure).split()))
    if "header value" in text.lower():
        return "a key, a token or a header has a line break, or another sign that cannot be sent"
    match failure:
        case Exception() if type(failure).__module__ == "http.client" and not text.endswith("response"):
            return "what it answers is no complete answer of HTTP"
        case TimeoutError() if not text or text in ("timed out", "The read operation timed out"):
            return "it did not answer in time"
        case KeyError() | TypeError() | AttributeError():
            return "its answer is not of the form that was expected"
        case _:
            return text or "it gave no reason"


def _of_variable(name: str) -> str:
    value = os.environ.get(name)
    if not value:
        why = f"the environment variable {name} is {'empty' if value == '' else 'not set'}"
        raise unavailable(
            why,
            f"Set it where this command runs: export {name}=... . A process that runs already does not see a "
            "new value: restart it.",
        )
    return value


def _of_file(path: Path) -> str:
    try:
        content = secret_file(path, most=_MOST_BYTES + 1)
        text = content.decode().rstrip("\r\n")
    except OSError as problem:
        raise unavailable(
            f"the file {path} cannot be read: {problem.strerror or problem}", "Give it, and read access."
        ) from None
    except UnicodeDecodeError:
        raise unavailable(f"the file {path} is not UTF-8 text", "A secret is one text.") from None
    if not text or len(content) > _MOST_BYTES:
        what = "is empty" if not text else "is larger than 64 KiB"
        raise unavailable(
            f"the file {path} {what}", "It must hold the secret and nothing else; a line end is cut off."
        )
    return text


def unavailable(why: str, advice: str) -> Failure:
    """The failure of a secret that cannot be had: why, and what to do about it. Neither shows the secret."""
    return Failure(error(codes.SECRET_UNAVAILABLE, f"{why[0].upper()}{why[1:]}. {advice}"))
