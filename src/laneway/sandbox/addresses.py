"""Which addresses belong to everybody, and which lead inside: to this machine, its network or its cloud."""

from __future__ import annotations

import ipaddress
import re

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

METADATA = "the metadata of a cloud machine"
_INSIDE: tuple[tuple[str, str], ...] = (
    ("169.254.169.254/32", METADATA),
    ("169.254.170.0/24", METADATA),
    ("100.100.100.200/32", METADATA),
    ("168.63.129.16/32", METADATA),
    ("192.0.0.192/32", METADATA),
    ("0.0.0.0/8", "this machine"),
    ("10.0.0.0/8", "a private network"),
    ("100.64.0.0/10", "a provider's inner network"),
    ("127.0.0.0/8", "this machine"),
    ("169.254.0.0/16", "the local link"),
    ("172.16.0.0/12", "a private network"),
    ("192.0.0.0/24", "a reserved range"),
    ("192.0.2.0/24", "a range for documentation"),
    ("192.88.99.0/24", "a reserved range"),
    ("192.168.0.0/16", "a private network"),
    ("198.18.0.0/15", "a range for measurements"),
    ("198.51.100.0/24", "a range for documentation"),
    ("203.0.113.0/24", "a range for documentation"),
    ("224.0.0.0/4", "a multicast group"),
    ("240.0.0.0/4", "a reserved range"),
    ("fd00:ec2::/32", METADATA),
    ("fd20:ce::/32", METADATA),
    ("::/128", "this machine"),
    ("::1/128", "this machine"),
    ("fc00::/7", "a private network"),
    ("fe80::/10", "the local link"),
    ("fec0::/10", "a private network"),
    ("ff00::/8", "a multicast group"),
    ("2001::/23", "a reserved range"),
    ("2001:db8::/32", "a range for documentation"),
    ("2002::/16", "a tunnel"),
    ("3fff::/20", "a range for documentation"),
)
"""Ranges and what they are, the more exact first. What is metadata stays closed to names that lead there."""

_RANGES = tuple((ipaddress.ip_network(text), kind) for text, kind in _INSIDE)
_EVERYBODYS_V6 = ipaddress.ip_network("2000::/3")
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_MAPPED = ipaddress.ip_network("::ffff:0:0/96")
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]*|[0-9]+")


def inside(address: Address) -> str | None:
    """What kind of inner place the address leads to; None if it is one of the open internet."""
    reached = really(address)
    for network, kind in _RANGES:
        if reached.version == network.version and reached in network:
            return kind
    if reached.version == 6 and reached not in _EVERYBODYS_V6:
        # Deny by default: what nobody has given out leads nowhere good.
        return "a reserved range"
    return None


def really(address: Address) -> Address:
    """The IPv4 address that an IPv6 one wraps (mapped, NAT64); else the address itself."""
    if isinstance(address, ipaddress.IPv6Address) and (address in _MAPPED or address in _NAT64):
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address


def literal(host: str) -> Address | None:
    """The address a host is written as; None if it is a name, or an address of one link (`fe80::1%eth0`)."""
    try:
        return None if "%" in host else ipaddress.ip_address(host.removeprefix("[").removesuffix("]"))
    except ValueError:
        return None


def disguised(host: str) -> Address | None:
    """The IPv4 address that resolvers read in an unusual spelling: one number, octal, hexadecimal, fewer parts."""
    parts = host.rstrip(".").split(".")
    if literal(host) is not None or len(parts) > 4 or not all(_NUMBER.fullmatch(part) for part in parts):
        return None
    numbers = [_number(part) for part in parts]
    last = numbers.pop()
    if any(number > 255 for number in numbers) or last >= 256 ** (4 - len(numbers)):
        return None
    return ipaddress.IPv4Address(sum(number << (24 - 8 * place) for place, number in enumerate(numbers)) + last)


def _number(part: str) -> int:
    if part[:2].lower() == "0x":
        return int(part[2:] or "0", 16)
    if part.startswith("0") and not set(part) & set("89"):
        return int(part, 8)
    return int(part)
