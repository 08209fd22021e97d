"""Which hosts may be reached: every address a name stands for is looked at, and only those are connected to.

`checked_addresses` resolves once. Whoever calls it connects to one of the addresses it returned and never resolves
the name again, so a name that changes its mind in between (DNS rebinding) gains nothing.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
import unicodedata
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

from laneway.errors import BadInput, Forbidden, SettingsError, Unavailable
from laneway.sandbox.addresses import METADATA, Address, Network, disguised, inside, literal, really

SETTING = "LANEWAY_ALLOWED_HOSTS"
LONGEST_NAME = 253
_NAME = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)(\.(?!-)[a-z0-9_-]{1,63}(?<!-))*")
_PORT = re.compile(r"(?P<host>\[[^\]]+\]|[^:/]+)(?::(?P<port>\d{1,5}))?")

Resolve = Callable[[str, int], Awaitable[Iterable[str]]]


class HostRefused(Forbidden):
    """The host leads where nobody may be sent."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """What the owner opened although it leads inside: names and addresses, each perhaps with one port, and ranges."""

    hosts: frozenset[tuple[str, int | None]] = frozenset()
    networks: tuple[Network, ...] = ()

    @classmethod
    def of(cls, entries: Iterable[str]) -> Allowed:
        """The list of a setting, or a SettingsError that names the entry nobody can read."""
        hosts: set[tuple[str, int | None]] = set()
        networks: list[Network] = []
        for entry in (entry.strip() for entry in entries):
            if "/" in entry:
                networks.append(_network(entry))
            else:
                hosts.add(_host_and_port(entry))
        return cls(frozenset(hosts), tuple(networks))

    def plus(self, host: str, port: int) -> Allowed:
        """The same with one more host, at this port only."""
        return Allowed(self.hosts | {(canonical(host), port)}, self.networks)

    def permits(self, host: str, port: int, address: Address) -> bool:
        """Whether the owner opened this address, by itself or by the name that led to it."""
        reached = really(address)
        by_address = str(reached), str(address)
        if any(reached in network for network in self.networks if network.version == reached.version):
            return True
        if any((text, at) in self.hosts for text in by_address for at in (port, None)):
            return True
        # Nobody means a cloud's metadata when opening a name: that takes the address itself.
        named = (host, port) in self.hosts or (host, None) in self.hosts
        return named and inside(address) != METADATA


def canonical(host: str) -> str:
    """The host in its one spelling: lower case, ASCII, no dot at the end, no brackets; BadInput if it is no host."""
    text = unicodedata.normalize("NFKC", host).strip().lower().replace("。", ".")
    text = text.removesuffix(".")
    if text.startswith("["):
        text = text.removeprefix("[").removesuffix("]")
    if (found := literal(text)) is not None:
        return str(found)
    try:
        ascii_text = text.encode("idna").decode("ascii") if not text.isascii() else text
    except UnicodeError:
        ascii_text = ""
    if len(ascii_text) > LONGEST_NAME or not _NAME.fullmatch(ascii_text):
        raise BadInput(f"`{_shown(host)}` is not the name of a host.", hint="Write it like example.org.")
    return ascii_text


async def checked_addresses(
    host: str, port: int, allowed: Allowed, resolve: Resolve | None = None, seconds: float = 10
) -> list[Address]:
    """Every address of the host, all of them fit to be connected to; else HostRefused, or Unavailable."""
    name = canonical(host)
    if (meant := disguised(name)) is not None:
        raise HostRefused(
            f"`{_shown(host)}` is an unusual spelling of the address {meant}.", hint="Write addresses as 192.0.2.1."
        )
    known = literal(name)
    addresses = [known] if known is not None else await _resolved(name, port, resolve or system_resolver, seconds)
    for address in addresses:
        check(name, port, address, allowed)
    return addresses


def check(host: str, port: int, address: Address, allowed: Allowed) -> None:
    """Returns only if this address of the host may be connected to."""
    kind = inside(address)
    if kind is None or allowed.permits(host, port, address):
        return
    leads = "is" if literal(host) is not None else f"leads to {address}, which is"
    raise HostRefused(f"{host} {leads} {kind}.", hint=f"The owner can open it with {SETTING}.")


async def system_resolver(host: str, port: int) -> list[str]:
    """What this machine's resolver says, without repetitions, in its order of preference."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


async def _resolved(name: str, port: int, resolve: Resolve, seconds: float) -> list[Address]:
    try:
        async with asyncio.timeout(seconds):
            found = list(await resolve(name, port))
    except TimeoutError:
        raise Unavailable(f"The address of {name} could not be found in time.", hint="Try again later.") from None
    except (OSError, UnicodeError):
        found = []
    addresses = [literal(text) for text in found]
    if not addresses:
        raise Unavailable(f"There is no host {name}.", hint="Check its name.")
    if None in addresses:
        # An address with a scope (fe80::1%eth0) belongs to one link of this machine.
        raise HostRefused(f"{name} leads to the local link.", hint="Only addresses of the internet are reached.")
    return [address for address in addresses if address is not None]


def _network(entry: str) -> Network:
    try:
        return ipaddress.ip_network(entry, strict=False)
    except ValueError:
        raise _unreadable(entry) from None


def _host_and_port(entry: str) -> tuple[str, int | None]:
    bare = literal(entry)
    match = _PORT.fullmatch(entry)
    if bare is None and match is None:
        raise _unreadable(entry)
    host, port = (entry, None) if bare is not None or match is None else (match["host"], match["port"])
    if port is not None and not 0 < int(port) < 65536:
        raise _unreadable(entry)
    try:
        return canonical(host), None if port is None else int(port)
    except BadInput:
        raise _unreadable(entry) from None


def _unreadable(entry: str) -> SettingsError:
    return SettingsError(
        f"`tools.allowed_hosts` ({SETTING}): `{_shown(entry)}` is neither a host nor a range of addresses.",
        hint="Write host, host:port or a range like 10.0.0.0/8.",
    )


def _shown(text: str) -> str:
    return "".join(char for char in text if char.isprintable())[:80]
