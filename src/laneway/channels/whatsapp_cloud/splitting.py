"""Cuts a long text into messages: at paragraphs, else lines, else words, and never leaves a code block open."""

from __future__ import annotations

FENCE = "```"
_CUTS = ("\n\n", "\n", ". ", " ")


def length(text: str) -> int:
    """How long WhatsApp may find the text: characters beyond the first plane count twice, which is the safe side."""
    return len(text) + sum(character > "\uffff" for character in text)


def split(text: str, most: int) -> list[str]:
    """The text in pieces of at most `most`; each can be read alone, and together they are the whole."""
    pieces: list[str] = []
    rest, reopened = text.strip("\n"), ""
    while length(reopened + rest) > most:
        # Room for the fence that may have to be closed.
        piece = _first(rest, most - length(reopened) - len(FENCE) - 1)
        rest = rest[len(piece) :]
        whole = reopened + piece.rstrip()
        inside = whole.count(FENCE) % 2 == 1
        pieces.append(f"{whole}\n{FENCE}" if inside else whole)
        reopened = f"{FENCE}\n" if inside else ""
        # Inside code the spaces at the start of a line mean something.
        rest = rest.lstrip("\n") if inside else rest.lstrip()
    return [piece for piece in (*pieces, reopened + rest) if piece.strip()] or [text]


def _first(text: str, most: int) -> str:
    """The longest good beginning of the text."""
    window = _within(text, most)
    for cut in _CUTS:
        at = window.rfind(cut)
        # A cut in the first half would make many small messages of one.
        if at >= len(window) // 2 and not _splits_fence(text, at + len(cut)):
            return window[: at + len(cut)]
    ends = [len(window) - back for back in range(min(3, len(window)))]
    return window[: next((end for end in ends if not _splits_fence(text, end)), len(window))]


def _splits_fence(text: str, at: int) -> bool:
    """Whether a cut here would go through the three signs of a fence."""
    return any(text.startswith(FENCE, start) for start in range(max(0, at - 2), at))


def _within(text: str, most: int) -> str:
    """The longest beginning that WhatsApp finds no longer than `most`."""
    window = text[:most]
    while length(window) > most:
        window = window[: len(window) - max(1, (length(window) - most) // 2)]
    return window


def shortened(text: str, most: int) -> str:
    """The text on one line, cut at a word and marked if it is too long."""
    line = " ".join(text.split())
    if length(line) <= most:
        return line
    head = _within(line, most - 1)
    word = head.rpartition(" ")[0]
    return (word if length(word) >= most // 2 else head).rstrip(" ,.;:-") + "…"
