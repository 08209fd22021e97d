"""Finds out how often the last things repeat: one thing again and again, or a short round of several."""

from __future__ import annotations

from collections import deque

LONGEST_ROUND = 6
MOST_DISTINCT = 3


class Cycles:
    """A run of things, and how often its end has repeated."""

    def __init__(self) -> None:
        self._last: deque[str] = deque(maxlen=LONGEST_ROUND)
        self._runs = [0] * (LONGEST_ROUND + 1)

    def clear(self) -> None:
        self._last.clear()
        self._runs = [0] * (LONGEST_ROUND + 1)

    def add(self, thing: str) -> tuple[int, int]:
        """How often the round that ends with this thing has been made, and how many things it is of."""
        for size in range(1, LONGEST_ROUND + 1):
            same = len(self._last) >= size and self._last[-size] == thing
            self._runs[size] = self._runs[size] + 1 if same else 0
        self._last.append(thing)
        rounds = [(self._runs[size] // size + 1, size) for size in range(1, LONGEST_ROUND + 1) if self._small(size)]
        return max(rounds, key=lambda found: (found[0], -found[1]))

    def _small(self, size: int) -> bool:
        return size <= MOST_DISTINCT or len(set(list(self._last)[-size:])) <= MOST_DISTINCT
