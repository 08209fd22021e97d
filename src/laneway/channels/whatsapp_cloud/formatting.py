"""Markdown as models write it, in the signs WhatsApp knows: *bold*, _italic_, ~struck~, `code` and ```code```."""

from __future__ import annotations

import re
from collections.abc import Callable

FENCE = re.compile(
    r"^ {0,3}(`{3,8}|~{3,8})[^\n`~]{0,100}\n(.*?)(?:^ {0,3}\1[`~]*[ \t]*$\n?|\Z)", re.MULTILINE | re.DOTALL
)
INLINE = re.compile(r"(?<!`)(`{1,3})(?!`)([^\n]{1,800}?)(?<!`)\1(?!`)")
ESCAPED = re.compile(r"\\([\\`*_{}\[\]()#+.!~>|-])")
_KEPT = "\ue000{}\ue001"
_KEPT_BACK = re.compile("\ue000(\\d+)\ue001")
_BOLD, _BOLD_END = "\ue002", "\ue003"

_RULES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"^ {0,3}#{1,6}[ \t]+(\S[^\n]{0,400})$", re.MULTILINE), rf"{_BOLD}\1{_BOLD_END}"),
    (re.compile(r"[ \t]+#{1,6}[ \t]*" + _BOLD_END), _BOLD_END),
    (re.compile(r"!?\[([^\[\]\n]{1,200})\]\(([^\s()]{1,500})(?:[ \t]+\"[^\"\n]{0,200}\")?\)"), r"\1 (\2)"),
    (re.compile(r"^([ \t]{0,20})[*+][ \t]+", re.MULTILINE), r"\1- "),
    (re.compile(r"\*\*\*(?=\S)([^\n*]{1,400})(?<=\S)\*\*\*"), rf"{_BOLD}_\1_{_BOLD_END}"),
    (re.compile(r"\*\*(?=\S)([^\n]{1,400}?)(?<=\S)\*\*"), rf"{_BOLD}\1{_BOLD_END}"),
    (re.compile(r"(?<!\w)__(?=\S)([^\n]{1,400}?)(?<=\S)__(?!\w)"), rf"{_BOLD}\1{_BOLD_END}"),
    (re.compile(r"(?<![\w*])\*(?=[^\s*])([^*\n]{1,400})(?<=[^\s*])\*(?![\w*])"), r"_\1_"),
    (re.compile(r"~~(?=\S)([^\n~]{1,400})(?<=\S)~~"), r"~\1~"),
    (re.compile(r"^[ \t]{0,3}(?:-[ \t]?){3,80}$|^[ \t]{0,3}(?:_[ \t]?){3,80}$", re.MULTILINE), "———"),
)
"""What is replaced by what, in this order; every pattern is bounded, because texts come from anywhere."""


def formatted(markdown: str) -> str:
    """The same text with WhatsApp's own signs; what stands in code is left alone."""
    kept: list[str] = []

    def keep(shown: Callable[[re.Match[str]], str]) -> Callable[[re.Match[str]], str]:
        def kept_away(found: re.Match[str]) -> str:
            kept.append(shown(found))
            return _KEPT.format(len(kept) - 1)

        return kept_away

    text = re.sub("[\ue000-\ue003]", "", markdown.replace("\r\n", "\n"))
    text = FENCE.sub(keep(lambda found: "```\n" + found[2].rstrip("\n").replace("```", "'''") + "\n```\n"), text)
    text = INLINE.sub(keep(lambda found: f"`{found[2].strip()}`"), text)
    text = ESCAPED.sub(keep(lambda found: found[1]), text)
    for pattern, sign in _RULES:
        text = pattern.sub(sign, text)
    # A heading that was bold already would be bold twice, which WhatsApp shows as stars.
    text = re.sub(f"{_BOLD}{{2,}}", _BOLD, re.sub(f"{_BOLD_END}{{2,}}", _BOLD_END, text))
    text = text.replace(_BOLD, "*").replace(_BOLD_END, "*")
    return _KEPT_BACK.sub(lambda found: kept[int(found[1])], text).strip("\n")
