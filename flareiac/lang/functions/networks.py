"""Functions of networks in CIDR notation (RFC 4632): ``10.0.0.0/8``, ``fe80::/48``."""

import ipaddress
import re
from typing import Final, TypeAlias

from flareiac.kernel.types import NUMBER, STRING, ListType
from flareiac.lang.functions.collections_of import whole
from flareiac.lang.functions.define import function, takes
from flareiac.lang.functions.signature import FunctionError
from flareiac.lang.values import Value, list_value, string

_Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network
_P = takes("prefix", STRING)
_LEADING_ZEROS: Final = re.compile(r"(?<![0-9A-Fa-f:])0+(?=[0-9])")
_MAPPED: Final = 96
"""An IPv6 prefix of so many bits or more may be one of IPv4 addresses (RFC 4291, 2.5.5.2)."""
_MOST_NEW_BITS: Final = 32
"""One subnet may have so many more bits, as in Terraform: no list of networks is meant to be longer."""


def _network(text: str) -> _Network:
    """The network, of an address with host bits too. Parts of an IPv4 address may begin with zeros, as
    Terraform reads them; they are decimal all the same.
    """
    address = text if ":" in text.partition("/")[0] else _LEADING_ZEROS.sub("", text)
    try:
        if not re.fullmatch(r"[^/%]+/[0-9]{1,3}", text):
            raise ValueError
        network = ipaddress.ip_network(address, strict=False)
    except ValueError:
        raise FunctionError(f'"{text}" is not a network such as 10.0.0.0/8', 0) from None
    if isinstance(network, ipaddress.IPv6Network) and network.prefixlen >= _MAPPED:
        mapped = network.network_address.ipv4_mapped
        if mapped is not None:
            return ipaddress.ip_network((mapped, network.prefixlen - _MAPPED))
    return network


def _text(network: _Network) -> str:
    return f"{network.network_address}/{network.prefixlen}"


def _host(prefix: Value, number: Value) -> Value:
    network, count = _network(prefix.raw), whole(number, 1)
    place = count if count >= 0 else network.num_addresses + count
    if not 0 <= place < network.num_addresses:
        raise FunctionError(f"a network with {network.prefixlen} bits of prefix has no host {count}", 1)
    return string(str(network.network_address + place))


def _netmask(prefix: Value) -> Value:
    network = _network(prefix.raw)
    if isinstance(network, ipaddress.IPv6Network):
        raise FunctionError("networks of IPv6 have no netmask", 0)
    return string(str(network.netmask))


def _longer(network: _Network, bits: int, at: int) -> int:
    """The length of a prefix with further bits."""
    length = network.prefixlen + bits
    if length > network.max_prefixlen:
        raise FunctionError(
            f"a prefix of {network.prefixlen} bits cannot have {bits} more: {network.max_prefixlen} are all",
            at,
        )
    return length


def _subnet(prefix: Value, new_bits: Value, number: Value) -> Value:
    network, bits, count = _network(prefix.raw), whole(new_bits, 1), whole(number, 2)
    if bits < 0:
        raise FunctionError("the prefix can only get longer", 1)
    length = _longer(network, bits, 1)
    if not 0 <= count < 1 << bits:
        raise FunctionError(f"{bits} more bits have no network {count}", 2)
    start = int(network.network_address) + (count << (network.max_prefixlen - length))
    return string(_text(type(network)((start, length))))


def _subnets(prefix: Value, *new_bits: Value) -> Value:
    network = _network(prefix.raw)
    at, subnets = int(network.network_address), []
    end = at + network.num_addresses
    for index, each in enumerate(new_bits, start=1):
        bits = whole(each, index)
        if not 1 <= bits <= _MOST_NEW_BITS:
            raise FunctionError(f"a subnet has 1 to {_MOST_NEW_BITS} more bits", index)
        length = _longer(network, bits, index)
        size = 1 << (network.max_prefixlen - length)
        start = -(-at // size) * size
        if start + size > end:
            raise FunctionError(
                f"the network has no room left for a subnet with {length} bits of prefix", index
            )
        subnets.append(string(_text(type(network)((start, length)))))
        at = start + size
    return list_value(subnets, STRING)


FUNCTIONS = (
    function(
        "cidrhost",
        (_P, takes("number", NUMBER)),
        STRING,
        _host,
        "The address of a host of a network by its number; a negative one counts from the end.",
    ),
    function("cidrnetmask", (_P,), STRING, _netmask, "The netmask of an IPv4 network."),
    function(
        "cidrsubnet",
        (_P, takes("new_bits", NUMBER), takes("number", NUMBER)),
        STRING,
        _subnet,
        "One of the networks inside a network, whose prefixes have so many more bits, by its number.",
    ),
    function(
        "cidrsubnets",
        (_P,),
        ListType(STRING),
        _subnets,
        "Networks inside a network, one after the other; each prefix has so many more bits.",
        variadic=takes("new_bits", NUMBER),
    ),
)
