"""A model's Markdown as runs: what Telegram can show is marked, everything else stays as it was written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from html import unescape

from markdown_it import MarkdownIt
from markdown_it.token import Token

from laneway.channels.telegram.runs import LANGUAGE, Mark, Run, blank, clean, visible
from laneway.channels.telegram.tables import table

SAFE_LINK = re.compile(r"(?i)https?://[^\s<>\"]+\Z")
LONGEST_LINK = 2000
EMPTY = "(The reply is empty.)"
BOLD, ITALIC, STRUCK, CODE, QUOTE = Mark("b"), Mark("i"), Mark("s"), Mark("code"), Mark("blockquote")
_INLINE = {"strong": BOLD, "em": ITALIC, "s": STRUCK}
_BULLETS = ("•", "◦", "▪")


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
    writer = _Writer()
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


class _Writer:
    """Turns tokens into runs; what is not seen but kept (targets) stands in the trace."""

    def __init__(self) -> None:
        self.runs: list[Run] = []
        self._trace: list[str] = []
        self._gap = 0
        self._marks: list[Mark] = []
        self._lists: list[str] = []
        self._links: list[tuple[Token, int, bool]] = []
        self._prefix = ""

    @property
    def trace(self) -> str:
        """Everything that was kept, seen or not, in order."""
        return "".join(self._trace)

    def write(self, text: str, *marks: Mark) -> None:
        """The text stands behind what was written, after the gap that was asked for."""
        if not text:
            return
        if self._gap and self.runs:
            # A gap inside a quote belongs to the quote; between blocks it belongs to nobody.
            before = self.runs[-1].marks
            self.runs.append(Run("\n" * self._gap, (QUOTE,) if QUOTE in self._marks and QUOTE in before else ()))
        self._gap = 0
        if self._prefix:
            prefix, self._prefix = self._prefix, ""
            self.runs.append(Run(prefix, tuple(mark for mark in self._marks if mark == QUOTE)))
            self._trace.append(prefix)
        self.runs.append(Run(text, (*self._marks, *marks)))
        self._trace.append(text)

    def gap(self, lines: int) -> None:
        """So many line ends stand before whatever comes next."""
        self._gap = max(self._gap, lines)

    def blocks(self, tokens: list[Token]) -> None:
        """The blocks are written."""
        rest = iter(tokens)
        for token in rest:
            self._block(token, rest)

    def _block(self, token: Token, rest: Iterator[Token]) -> None:
        match token.type:
            case "inline":
                self._inline(token.children or [])
            case "fence" | "code_block":
                self._code(token)
            case "hr":
                self._own_block("———")
            case "table_open":
                rows = table(rest)
                self._own_block(rows, Mark("pre"))
            case "heading_open":
                self.gap(2)
                self._marks.append(BOLD)
            case "heading_close":
                self._marks.remove(BOLD)
                self.gap(2)
            case "blockquote_open":
                self.gap(2)
                self._marks.insert(0, QUOTE) if QUOTE not in self._marks else None
                self._lists.append("")
            case "blockquote_close":
                self._lists.pop()
                if "" not in self._lists and QUOTE in self._marks:
                    self._marks.remove(QUOTE)
                self.gap(2)
            case _:
                self._structure(token)

    def _structure(self, token: Token) -> None:
        """Paragraphs and lists: only gaps and markers."""
        match token.type:
            case "bullet_list_open" | "ordered_list_open":
                self.gap(1 if self._depth() else 2)
                self._lists.append(token.type)
            case "bullet_list_close" | "ordered_list_close":
                self._lists.pop()
                self.gap(1 if self._depth() else 2)
            case "list_item_open":
                self._flush_prefix()
                self.gap(1)
                depth = self._depth()
                marker = f"{token.info}{token.markup}" if token.info else _BULLETS[(depth - 1) % len(_BULLETS)]
                self._prefix = "   " * (depth - 1) + f"{marker} "
            case "list_item_close":
                self._flush_prefix()
                self.gap(1)
            case "paragraph_open" | "paragraph_close":
                self.gap(1 if token.hidden or self._prefix else 2)

    def _depth(self) -> int:
        return sum(bool(kind) for kind in self._lists)

    def _flush_prefix(self) -> None:
        """A list item without words still shows its marker."""
        if self._prefix:
            marker, self._prefix = self._prefix.rstrip(), ""
            self.write(marker)

    def _own_block(self, text: str, *marks: Mark) -> None:
        """The text stands on its own lines, outside of every quote."""
        self._flush_prefix()
        self.gap(2)
        kept, self._marks = self._marks, []
        self.write(text, *marks)
        self._marks = kept
        self.gap(2)

    def _code(self, token: Token) -> None:
        info, content = token.info.strip(), token.content.strip("\n")
        language = info if LANGUAGE.match(info) else ""
        if info and not language:
            self.gap(2)
            self.write(info)
            self.gap(1)
        self._trace.append(language)
        if not blank(content):
            self._own_block(content, Mark("pre", language))

    def _inline(self, children: Sequence[Token]) -> None:
        for token in children:
            kind = token.type.removesuffix("_open").removesuffix("_close")
            if token.type in ("softbreak", "hardbreak"):
                self.write("\n")
            elif kind == "code_inline":
                self._inline_code(token.content)
            elif kind == "image":
                self._image(token)
            elif kind == "link":
                self._begin_link(token) if token.nesting > 0 else self._end_link()
            elif token.markup == "__":
                # More often the name of a file than emphasis: `__init__.py`.
                self.write("__")
            elif kind in _INLINE:
                mark = _INLINE[kind]
                self._marks.append(mark) if token.nesting > 0 else self._drop(mark)
            else:
                self.write(token.content)

    def _drop(self, mark: Mark) -> None:
        """The innermost mark of this kind is gone; `**a *b* c**` may hold the same kind twice."""
        index = len(self._marks) - 1 - self._marks[::-1].index(mark)
        del self._marks[index]

    def _inline_code(self, content: str) -> None:
        """Telegram lets code stand in no other mark but a quote; a link wins over code."""
        if self._links:
            return self.write(content)
        kept, self._marks = self._marks, [mark for mark in self._marks if mark == QUOTE]
        self.write(content, *() if blank(content) else (CODE,))
        self._marks = kept
        return None

    def _begin_link(self, token: Token) -> None:
        """An address inside the words of a link is no link of its own."""
        inside = bool(self._links)
        self._links.append((token, len(self._trace), not inside))
        if not inside:
            self._marks.append(Mark("a", str(token.attrs.get("href", ""))))

    def _end_link(self) -> None:
        token, begins, marked = self._links.pop()
        target = str(token.attrs.get("href", ""))
        if blank("".join(self._trace[begins:])):
            self.write(target)
        if marked:
            self._drop(Mark("a", target))
        self._after_link(target, token)

    def _image(self, token: Token) -> None:
        """A picture is a link: its words, or its address."""
        target = str(token.attrs.get("src", ""))
        words = "".join(child.content for child in token.children or []) or target
        self.write(words, *() if self._links else (Mark("a", target),))
        self._after_link(target, token)

    def _after_link(self, target: str, token: Token) -> None:
        self._trace.append(target)
        title = str(token.attrs.get("title", ""))
        if title:
            self.write(f" ({title})")
