"""A reply as Telegram's messages: rendered, cut into parts, its buttons under the last one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from laneway.channels.contract import SENT_AGAIN, Button, Part
from laneway.channels.telegram.rendering import render
from laneway.channels.telegram.runs import html, plain, units, visible
from laneway.channels.telegram.splitting import split

LONGEST = 4096
"""UTF-16 units a message holds."""

ROOM = 236
"""Units left in every part besides those of SENT_AGAIN: for the outcome of a question under its words."""

LONGEST_DATA = 64
LONGEST_LABEL = 60
MOST_IN_ROW, MOST_BUTTONS, WIDEST_ROW = 8, 100, 36


def parts_of(text: str, buttons: Sequence[Button] = ()) -> list[Part]:
    """The messages a reply is sent as, at least one; the same text always gives the same."""
    limit = LONGEST - units(SENT_AGAIN) - ROOM
    parts = []
    for runs in split(render(text), limit):
        bare = plain(runs)
        parts.append(Part(bare if units(bare) <= limit else visible(runs), {"html": html(runs)}))
    parts[-1] = replace(parts[-1], buttons=tuple(button for button in buttons if fits(button))[:MOST_BUTTONS])
    return parts


def fits(button: Button) -> bool:
    """Whether Telegram takes it."""
    return bool(button.text.strip()) and 1 <= len(button.data.encode()) <= LONGEST_DATA


def rows_of(buttons: Sequence[Button]) -> list[list[tuple[str, str]]]:
    """The buttons in rows that can be read on a phone: short ones side by side, long ones alone."""
    rows: list[list[tuple[str, str]]] = []
    width = 0
    for button in buttons:
        label = button.text if len(button.text) <= LONGEST_LABEL else button.text[: LONGEST_LABEL - 1] + "…"
        width += len(label)
        if not rows or len(rows[-1]) == MOST_IN_ROW or width > WIDEST_ROW:
            rows.append([])
            width = len(label)
        rows[-1].append((label, button.data))
    return rows
