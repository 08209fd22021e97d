"""Prompt caches as the providers keep them: marked prefixes at Anthropic, any long prefix at OpenAI."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .script import Json
from .wire import canonical, estimate

FRAMING = 3
"""Tokens that every Anthropic request has beside its blocks; they are never cached."""
LOOKBACK = 20
SECONDS = {"5m": 300.0, "1h": 3600.0}


@dataclass(frozen=True)
class Block:
    """One piece of a prompt in the order in which it is cached; `ttl` is set when a cache mark ends here."""

    text: str
    ttl: str | None


@dataclass(frozen=True)
class CacheUse:
    """Where the tokens of one prompt came from."""

    read: int
    written_5m: int
    written_1h: int
    uncached: int

    @property
    def total(self) -> int:
        """The size of the whole prompt."""
        return self.read + self.written_5m + self.written_1h + self.uncached


def blocks_of(body: Json) -> list[Block]:
    """The prompt as Anthropic orders it: tools, then system, then messages."""
    blocks = [_block("tool", tool) for tool in body.get("tools") or []]
    blocks += [_block("system", part) for part in _parts(body.get("system"))]
    for message in body.get("messages") or []:
        blocks += [_block(message.get("role", ""), part) for part in _parts(message.get("content"))]
    if blocks and body.get("cache_control") and blocks[-1].ttl is None:
        blocks[-1] = Block(blocks[-1].text, body["cache_control"].get("ttl", "5m"))
    return blocks


def _parts(content: object) -> Iterator[Json]:
    if isinstance(content, str):
        yield {"type": "text", "text": content}
    elif isinstance(content, list):
        yield from (part for part in content if isinstance(part, dict))


def _block(role: str, part: Json) -> Block:
    mark = part.get("cache_control")
    bare = {key: value for key, value in part.items() if key != "cache_control"}
    return Block(f"{role} {canonical(bare)}", mark.get("ttl", "5m") if mark else None)


@dataclass
class _Entry:
    seconds: float
    expires: float


class MarkedPrefixes:
    """Prefixes stay readable for the time their mark asked for, counted from their last use."""

    def __init__(self, minimum: int = 0, clock: Callable[[], float] = time.monotonic) -> None:
        self._minimum = minimum
        self._clock = clock
        self._entries: dict[str, _Entry] = {}

    def use(self, body: Json) -> CacheUse:
        """The prompt has been read through the cache and its marked prefixes are stored."""
        blocks = blocks_of(body)
        digests, sizes = _prefixes(str(body.get("model")), blocks)
        marks = [index for index, block in enumerate(blocks) if block.ttl is not None]
        hit = self._longest_hit(digests, marks)
        read = position = sizes[hit] if hit is not None else 0
        written = {"5m": 0, "1h": 0}
        for mark in marks:
            ttl = blocks[mark].ttl or "5m"
            if sizes[mark] > position and sizes[mark] >= self._minimum:
                written[ttl] += sizes[mark] - position
                position = sizes[mark]
                self._entries[digests[mark]] = _Entry(SECONDS[ttl], self._clock() + SECONDS[ttl])
        uncached = (sizes[-1] if sizes else 0) - position + FRAMING
        return CacheUse(read, written["5m"], written["1h"], uncached)

    def _longest_hit(self, digests: list[str], marks: list[int]) -> int | None:
        for mark in reversed(marks):
            for index in range(mark, max(mark - LOOKBACK, -1), -1):
                entry = self._entries.get(digests[index])
                if entry is not None and entry.expires > self._clock():
                    entry.expires = self._clock() + entry.seconds
                    return index
        return None


def _prefixes(model: str, blocks: list[Block]) -> tuple[list[str], list[int]]:
    """The fingerprint and the size in tokens of the prompt up to and including each block."""
    chain, size = hashlib.sha256(model.encode()), 0
    digests, sizes = [], []
    for block in blocks:
        chain.update(block.text.encode() + b"\0")
        size += estimate(block.text)
        digests.append(chain.hexdigest())
        sizes.append(size)
    return digests, sizes


class LongPrefixes:
    """Every prompt is remembered; what a later one shares with it is cached from 1024 tokens on, by 128."""

    def __init__(self, minimum: int = 1024, step: int = 128) -> None:
        self._minimum = minimum
        self._step = step
        self._prompts: dict[str, list[str]] = {}

    def use(self, model: str, prompt: str) -> int:
        """How many tokens of the prompt were cached; it is remembered for those who come after."""
        known = self._prompts.setdefault(model, [])
        shared = max((_shared(prompt, other) for other in known), default=0) // 4
        known.append(prompt)
        return shared // self._step * self._step if shared >= self._minimum else 0


def _shared(one: str, other: str) -> int:
    """How many characters the two have in common from the start."""
    pairs = zip(one, other, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
