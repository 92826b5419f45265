"""The address on which a driver answers probes and Prometheus: ``HOST:PORT``. Pure."""

import re
from typing import Final

from flareiac.kernel.lazy_dataclass import dataclass

_FORM: Final = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+)):(\d{1,5})")
_PORTS: Final = range(1, 65_536)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListenAddress:
    """``host`` is a name or an address, one of IPv6 without its brackets."""

    host: str
    port: int


def listen_address(text: str) -> ListenAddress | None:
    """None for a text of another form. The host is never implied: an address without one would mean every
    interface to some readers and loopback to others.
    """
    match = _FORM.fullmatch(text)
    if match is None or int(match[3]) not in _PORTS:
        return None
    return ListenAddress(host=match[1] or match[2], port=int(match[3]))
