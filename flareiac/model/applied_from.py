"""The origin of the last apply of a state: it distinguishes two environments that share the state. Pure."""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import field
from typing import Final

from flareiac.kernel.data import Attributes, Data, canonical
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import OPTIONAL, SPARSE
from flareiac.sdk.owner import Owner
from flareiac.sdk.service_level import ServiceLevel

_DIGITS: Final = 16
_COST: Final = 2**12
"""The cost of the key of a sensitive value: some 10 ms for each guess of someone who can read the state."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideReader:
    """A reader outside of the project as it was declared: its ``address``, what it reads (``subject``), the
    rest as in ``sdk.changes.Usage``.
    """

    address: str
    subject: str
    columns: tuple[str, ...] | None = field(default=None, metadata=OPTIONAL)
    known_as: str = field(default="", metadata=SPARSE)
    owner: Owner | None = field(default=None, metadata=SPARSE)
    level: ServiceLevel | None = field(default=None, metadata=SPARSE)


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedFrom:
    """``folder``: the root module's, relative to the root of its repository (``.``: that root), an absolute
    path outside of any. ``owner``: ``state_owner`` where the configuration has one. ``variables``: a digest
    of each variable's value, made with ``key``, so that equal values have equal digests within a state alone.
    """

    folder: str
    owner: str = field(default="", metadata=SPARSE)
    key: str
    variables: Mapping[str, str] = field(default_factory=dict)
    readers: tuple[OutsideReader, ...] = field(default=(), metadata=SPARSE)
    """Those who read from outside, so that a plan which removes them together with what they read still names
    them.
    """
    protected: bool = field(default=False, metadata=SPARSE)
    """True where the workspace is protected: a configuration that no longer says so does not lift that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Differences:
    """The relevant differences between two origins. ``variables``: the names of those with other values, of
    the variables that both have.
    """

    owner: bool = False
    folder: bool = False
    variables: tuple[str, ...] = ()

    @property
    def is_elsewhere(self) -> bool:
        """True where it may be another environment's state, and not this one's with other values."""
        return self.owner or self.folder

    def __bool__(self) -> bool:
        return self.owner or self.folder or bool(self.variables)


def applied_from(folder: str, owner: str, values: Attributes, shown: Attributes, *, key: str) -> AppliedFrom:
    """``values``: of all variables; ``shown``: the same, with None in place of what is sensitive."""
    return AppliedFrom(
        folder=folder,
        owner=owner,
        key=key,
        variables={
            name: _digest(key, name, value, sensitive=shown.get(name) is None and value is not None)
            for name, value in sorted(values.items())
        },
    )


def differences(then: AppliedFrom | None, now: AppliedFrom, *, shared: bool) -> Differences:
    """The differences between this apply and the last one; none where the state records no origin.
    ``shared``: other folders may have the same state; one in files of the folder moves with it.

    A ``state_owner`` vouches for the folder or for the variables, not for both at once: two environments may
    share the file that names it. Where it is new, it was written to say that the state belongs here.
    """
    if then is None or (now.owner and not then.owner):
        return Differences()
    folder = shared and then.folder != now.folder
    variables = tuple(
        name for name, value in now.variables.items() if then.variables.get(name, value) != value
    )
    if then.owner != now.owner:
        return Differences(owner=True, folder=folder, variables=variables)
    if now.owner and not (folder and variables):
        return Differences()
    return Differences(folder=folder, variables=variables)


def _digest(key: str, name: str, value: Data, *, sensitive: bool) -> str:
    secret = key.encode()
    if sensitive:
        secret = hashlib.scrypt(secret, salt=canonical(value).encode(), n=_COST, r=8, p=1, dklen=32)
    text = canonical([name, value])
    return hmac.new(secret, text.encode(), hashlib.sha256).hexdigest()[:_DIGITS]
