"""How a table that a server gives out page by page is read on: where the next page is, and when to stop."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from laneway.errors import BadInput, LanewayError
from laneway.lanes.pipeline.formats import at
from laneway.sandbox.exchange import origin, parsed

MOST_PAGES, USUAL_PAGES = 100, 10
KINDS = ("link", "next", "page", "offset", "cursor")
_FIELDS = frozenset({"by", "at", "param", "start", "size", "size_param", "most"})
_LINK = re.compile(r"<([^<>]{1,8000})>([^<]*)")
_NEXT = re.compile(r"""(?i);\s*rel\s*=\s*["']?[^"';,]*\bnext\b""")


@dataclass(frozen=True, slots=True)
class Paging:
    """How to get from one page to the next.

    `link`: the Link header. `next`: an address in the body, at `at`. `page`, `offset`: a number in the parameter
    `param`. `cursor`: a value in the body, at `at`, that goes into `param`.
    """

    by: str
    at: str = ""
    param: str = ""
    start: int = 0
    size: int | None = None
    size_param: str = ""
    most: int = USUAL_PAGES

    @classmethod
    def of(cls, given: Any) -> Paging | None:
        """What the plan says of pages, or a BadInput that names what is wrong."""
        if given is None:
            return None
        if not isinstance(given, Mapping) or given.get("by") not in KINDS:
            raise BadInput("`pages.by` must be one of " + ", ".join(KINDS) + ".", hint='Like {"by": "link"}.')
        if unknown := sorted(set(given) - _FIELDS):
            raise BadInput(f"`pages.{unknown[0][:40]}` is unknown.", hint=f"Known: {', '.join(sorted(_FIELDS))}.")
        by = str(given["by"])
        if by in ("next", "cursor") and not isinstance(given.get("at"), str):
            raise BadInput(f"Pages by {by} need `at`.", hint='Where it stands in the body, like "meta.next".')
        usual = {"page": "page", "offset": "offset", "cursor": "cursor"}.get(by, "")
        return cls(
            by, str(given.get("at", "")), _text(given, "param", usual), _number(given, "start", int(by == "page"), 0),
            None if given.get("size") is None else _number(given, "size", 1, 1),
            _text(given, "size_param", ""), min(_number(given, "most", USUAL_PAGES, 1), MOST_PAGES),
        )  # fmt: skip

    def first(self) -> dict[str, str]:
        """The parameters of the first page."""
        told = {self.param: str(self.start)} if self.by in ("page", "offset") else {}
        return told | ({self.size_param: str(self.size)} if self.size_param and self.size is not None else {})

    def following(self, page: Page) -> Turned | None:
        """Where the page after this one is; None if this was the last."""
        if self.by == "link":
            return _same_origin(page.url, _linked(page.headers.get("link", "")))
        if self.by == "next":
            return _same_origin(page.url, self._told(page))
        if self.by == "cursor":
            told = self._told(page)
            return Turned({self.param: told}) if told and page.rows else None
        if not page.rows or (self.size is not None and page.rows < self.size):
            return None
        step = page.number if self.by == "page" else page.rows_so_far
        return Turned({self.param: str(self.start + step)})

    def _told(self, page: Page) -> str | None:
        try:
            found = at(page.body, self.at)
        except LanewayError:
            return None
        return str(found) if isinstance(found, str | int) and not isinstance(found, bool) and found != "" else None


@dataclass(frozen=True, slots=True)
class Page:
    """One page as it came: how many rows it has, and what tells of the next."""

    url: str
    headers: Mapping[str, str]
    body: Any
    rows: int
    rows_so_far: int
    number: int


@dataclass(frozen=True, slots=True)
class Turned:
    """The next page: other parameters, or another address."""

    params: Mapping[str, str] | None = None
    url: str | None = None


def _linked(header: str) -> str | None:
    return next((address for address, rest in _LINK.findall(header[:20_000]) if _NEXT.search(rest)), None)


def _same_origin(before: str, address: str | None) -> Turned | None:
    if address is None:
        return None
    try:
        after = parsed(str(httpx.URL(before).join(address)))
    except (httpx.InvalidURL, UnicodeError):
        raise BadInput("The server names something as the next page that is no address.") from None
    if origin(parsed(before)) != origin(after):
        # Where to go was decided by whoever asked; a page may not send us, with our headers, to somebody else.
        raise BadInput(
            f"{httpx.URL(before).host} says that the next page is at {after.host}; it was not asked.",
            hint=f"Ask {after.host} itself if that is meant.",
        )
    return Turned(url=str(after))


def _text(given: Mapping[str, Any], name: str, usual: str) -> str:
    value = given.get(name, usual)
    if not isinstance(value, str) or len(value) > 100:
        raise BadInput(f"`pages.{name}` must be a short text.", hint="Correct it.")
    return value


def _number(given: Mapping[str, Any], name: str, usual: int, least: int) -> int:
    value = given.get(name, usual)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= 10**9:
        raise BadInput(f"`pages.{name}` must be a number from {least}.", hint="Correct it.")
    return value
