"""Bounds of a judgement: text that cannot be judged within them is asked about, never waited for or cut short."""

from __future__ import annotations

LONGEST = 64_000
"""Characters of a command; what is longer is asked about unread."""
LONGEST_PATH = 4096
"""Characters of a path; Linux opens no longer one."""
MOST_WORDS = 500
"""Words one word may become."""
MOST_EXPANDED = 400_000
"""Characters that variables and substitutions may become in all."""
MOST_STEPS = 3000
DEEPEST = 40
"""How deeply shells, wrappers and scripts may be nested."""


class TooMuch(Exception):
    """The text cannot be judged within bounds; `rule` says which bound."""

    def __init__(self, rule: str = "too-complex") -> None:
        super().__init__(rule)
        self.rule = rule
