"""How much of a text is analysed, whoever wrote it: each reader has it at its front."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

BEGINNING, END = 1000, 500
"""Letters of a long text that are analysed: what it is stands in front of what was pasted, or behind it."""
MOST_PIECES, LONGEST_PIECE = 750, 200
"""Words, signs and the blanks between them; a longer word is no word."""
_PIECES: Final = re.compile(r"[\w'’-]+|\s+|[^\w\s'’-]")


def bounded(text: str) -> str:
    """The text as it is analysed: of a long one its beginning and its end, and no word or run of signs without end."""
    most = BEGINNING + END
    read = f"{text[: BEGINNING - 1]}\n{text[-END:]}" if len(text) > most else text
    # One character may be written out as eighteen.
    plain = unicodedata.normalize("NFKC", read)
    pieces = _PIECES.findall(plain[:most] if len(plain) > 2 * most else read)
    if len(pieces) > MOST_PIECES:
        pieces = [*pieces[: BEGINNING // 2 - 1], "\n", *pieces[-END // 2 :]]
    return "".join(piece[:LONGEST_PIECE] for piece in pieces)
