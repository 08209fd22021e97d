"""Which hosts may be reached: all addresses of a name count, in every spelling; only the owner opens what is inside."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

import pytest

from laneway.errors import BadInput, SettingsError, Unavailable
from laneway.sandbox.hosts import Allowed, HostRefused, Resolve, canonical, checked_addresses

NOTHING = Allowed()


def telling(*addresses: str) -> Resolve:
    """A resolver that says the same of every name."""

    async def resolve(host: str, port: int) -> Iterable[str]:
        return addresses

    return resolve


async def reached(host: str, allowed: Allowed = NOTHING, *addresses: str, port: int = 80) -> list[str]:
    return [str(one) for one in await checked_addresses(host, port, allowed, telling(*addresses))]


async def test_addresses_that_lead_inside_are_refused_written_out_and_behind_a_name() -> None:
    for address in (
        "127.0.0.1", "127.255.255.254", "0.0.0.0", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1",
        "169.254.1.1", "169.254.169.254", "169.254.170.2", "100.64.0.1", "100.100.100.200", "168.63.129.16",
        "192.0.0.192", "192.0.2.1", "198.18.0.1", "198.51.100.7", "203.0.113.9", "224.0.0.1", "239.1.1.1",
        "240.0.0.1", "255.255.255.255", "::", "::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fec0::1", "ff02::1",
        "2001:db8::1", "2001::1", "2002:7f00:1::", "3fff::1", "::ffff:127.0.0.1", "::ffff:169.254.169.254",
        "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "::127.0.0.1", "100::1", "4000::1", "5f00::1",
    ):  # fmt: skip
        with pytest.raises(HostRefused, match="LANEWAY_ALLOWED_HOSTS"):
            await reached(address)
        with pytest.raises(HostRefused, match=r"example\.org leads to \S+, which is "):
            await reached("example.org", NOTHING, address)
    with pytest.raises(HostRefused, match=r"10\.0\.0\.5"):
        await reached("example.org", NOTHING, "8.8.8.8", "2606:4700::1111", "10.0.0.5")
    with pytest.raises(HostRefused, match="local link"):
        await reached("router.example", NOTHING, "fe80::1%eth0")


async def test_unusual_spellings_of_addresses_and_what_is_no_host_are_refused_wherever_they_lead() -> None:
    for spelling in (
        "2130706433", "0x7f000001", "0X7F.1", "0177.0.0.1", "0177.1", "127.1", "127.0.1", "0x7f.0.0.1", "134744072",
        "１２７.1", "127。1", "017700000001", "010.8.8.8",
    ):  # fmt: skip
        with pytest.raises(HostRefused, match="unusual spelling of the address"):
            await reached(spelling, NOTHING, "8.8.8.8")
    for spelling in ("127.0.0.1.", "１２７.０.０.１", "127。0。0。1", "[::1]", "[::FFFF:7F00:1]"):
        with pytest.raises(HostRefused, match="this machine"):
            await reached(spelling)
    for host in ("", ".", "-a.example", "a..b", "exa mple.org", "a/b", "x" * 64, "a.b" * 100, "fe80::1%eth0", "a\0b"):
        with pytest.raises(BadInput):
            await reached(host, NOTHING, "8.8.8.8")


async def test_addresses_of_the_open_internet_are_reached() -> None:
    for address in ("8.8.8.8", "172.32.0.1", "100.63.255.255", "100.128.0.1", "2606:4700::1111", "64:ff9b::808:808"):
        assert await reached("example.org", NOTHING, address) == [address]
        assert await reached(address) == [address]


def test_a_host_has_one_spelling() -> None:
    assert canonical("EXAMPLE.Org.") == "example.org"
    assert canonical("bücher.example") == "xn--bcher-kva.example"
    assert canonical("[2606:4700:0::1111]") == "2606:4700::1111"


async def test_the_owner_opens_a_name_at_a_port_and_only_there() -> None:
    allowed = Allowed.of(["Wiki.intern:8080", "printer.intern"])
    assert await reached("wiki.intern", allowed, "10.0.0.7", port=8080) == ["10.0.0.7"]
    assert await reached("printer.intern", allowed, "10.0.0.8", port=631) == ["10.0.0.8"]
    with pytest.raises(HostRefused):
        await reached("wiki.intern", allowed, "10.0.0.7", port=22)
    with pytest.raises(HostRefused):
        await reached("other.wiki.intern", allowed, "10.0.0.7", port=8080)
    with pytest.raises(HostRefused):
        await reached("10.0.0.7", allowed, port=8080)


async def test_the_owner_opens_a_range_for_every_name_that_leads_there() -> None:
    allowed = Allowed.of(["10.0.0.0/8", "fd00::/8", "127.0.0.1:9000"])
    assert await reached("wiki.intern", allowed, "10.9.9.9", "fd12::1") == ["10.9.9.9", "fd12::1"]
    assert len(await reached("::ffff:10.1.1.1", allowed)) == 1
    assert await reached("localhost", allowed, "127.0.0.1", port=9000) == ["127.0.0.1"]
    with pytest.raises(HostRefused):
        await reached("localhost", allowed, "127.0.0.1", port=9001)
    with pytest.raises(HostRefused):
        await reached("192.168.0.1", allowed)


async def test_a_name_that_was_opened_does_not_open_the_metadata_of_a_cloud() -> None:
    with pytest.raises(HostRefused, match="metadata"):
        await reached("wiki.intern", Allowed.of(["wiki.intern"]), "169.254.169.254")
    assert await reached("169.254.169.254", Allowed.of(["169.254.169.254"])) == ["169.254.169.254"]


def test_an_entry_nobody_can_read_is_refused_with_its_name() -> None:
    for entry in ("10.0.0.0/99", "http://wiki.intern", "wiki.intern:0", "wiki.intern:70000", "a b", ""):
        with pytest.raises(SettingsError, match="LANEWAY_ALLOWED_HOSTS"):
            Allowed.of([entry])


async def test_a_name_nobody_knows_and_a_resolver_that_hangs_are_told_apart() -> None:
    async def unknown(host: str, port: int) -> Iterable[str]:
        raise OSError("Name or service not known")

    async def hangs(host: str, port: int) -> Iterable[str]:
        await asyncio.sleep(60)
        return []

    with pytest.raises(Unavailable, match=r"There is no host nobody\.example"):
        await checked_addresses("nobody.example", 80, NOTHING, unknown)
    with pytest.raises(Unavailable, match="in time"):
        await checked_addresses("slow.example", 80, NOTHING, hangs, seconds=0.05)
