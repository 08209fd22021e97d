"""Names of files as others gave them, made fit to be shown, stored and put before a model."""

from __future__ import annotations

from pathlib import PurePosixPath

LONGEST = 120
_BRACKETS = str.maketrans("[]<>", "()()")


def safe_name(name: str) -> str:
    """One line without folders, control characters or marks of ours; its ending stays where people look for it."""
    last = PurePosixPath(name.replace("\\", "/")).name
    # Not printable are also the marks that turn the direction of writing and so hide an ending.
    shown = "".join(character for character in last if character.isprintable())
    plain = " ".join(shown.translate(_BRACKETS).split())
    if len(plain) > LONGEST:
        ending = PurePosixPath(plain).suffix[:12]
        plain = plain[: LONGEST - len(ending) - 1] + "…" + ending
    return "file" if plain.strip(". ") == "" else plain
