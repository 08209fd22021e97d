"""A model's Markdown as runs: what Telegram can show is marked, everything else stays as it was written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from html import unescape

from markdown_it import MarkdownIt

from laneway.channels.telegram.runs import Run, blank, clean, visible
from laneway.channels.telegram.writer import Writer

SAFE_LINK = re.compile(r"(?i)https?://[^\s<>\"]+\Z")
LONGEST_LINK = 2000
EMPTY = "(The reply is empty.)"


class _Markdown(MarkdownIt):
    """CommonMark that leaves targets as they were written and takes none but the web's."""

    def validateLink(self, url: str) -> bool:  # noqa: N802
        return len(url) <= LONGEST_LINK and bool(SAFE_LINK.match(url))

    def normalizeLink(self, url: str) -> str:  # noqa: N802
        return url

    def normalizeLinkText(self, link: str) -> str:  # noqa: N802
        return link


@cache
def _parser() -> MarkdownIt:
    # Definitions of references and HTML would vanish from sight, and `&lt;` was written to be seen.
    parser = _Markdown("commonmark", {"html": False}).enable(["table", "strikethrough"])
    return parser.disable(["reference", "entity", "html_block", "html_inline"])


def render(source: str) -> list[Run]:
    """The text with its formatting; if any word got lost on the way, the text as it was written."""
    text = clean(source)
    if blank(text):
        return [Run(EMPTY)]
    writer = Writer()
    writer.blocks(_parser().parse(text))
    runs = _joined(writer.runs)
    whole = not blank(visible(runs)) and _all_there(text, writer.trace)
    return runs if whole else [Run(text.strip("\n"))]


def _all_there(source: str, trace: str) -> bool:
    """Whether every letter and digit of the source is still there, in its order."""
    left = iter(unescape(trace))
    return all(char in left for char in unescape(source) if char.isalnum())


def _joined(runs: Sequence[Run]) -> list[Run]:
    joined: list[Run] = []
    for run in runs:
        if joined and joined[-1].marks == run.marks:
            joined[-1] = Run(joined[-1].text + run.text, run.marks)
        elif run.text:
            joined.append(run)
    return joined
