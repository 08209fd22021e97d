"""Shell text as a syntax tree, within bounds: hostile text is refused rather than waited for."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from functools import cache

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from laneway.sandbox.shell.bounds import LONGEST, TooMuch

_SECONDS = 0.15
"""Of the processor: on a busy machine a command is judged as on an idle one."""
_CHUNK = 4096
_MOST = {"|": 1500, "<<": 400, "=(": 800, "${": 2000, "[[": 500, "$(": 1500, "`": 800}
"""What makes the parser slow when there is much of it."""


_WHOLE = {
    "string", "heredoc_body", "expansion", "concatenation", "raw_string", "ansi_c_string", "arithmetic_expansion",
    "regex", "word", "test_command", "binary_expression", "translated_string", "extglob_pattern", "brace_expression",
}  # fmt: skip
"""Nodes that are read by their text, whatever parts the grammar sees in them."""


_WORDS = {"word", "regex", "extglob_pattern", "string_content", "heredoc_content"}
_RUNS = re.compile(rb"(?<!\\)(`|\$\()")
_BROKEN = re.compile(r"(?<=[^\s\\])\\\n(?=\S)")
_HEREDOC = re.compile(r"<<-?\s*(['\"]?)([\w.]+)\1")


@cache
def _parser() -> Parser:
    return Parser(Language(tree_sitter_bash.language()))


@dataclass(slots=True)
class Review:
    """A second look at a tree: what the grammar left out, and what runs inside words."""

    lost: bool = False
    """Whether it left out text that the shell would read; it has such gaps without calling them errors."""
    substitutions: list[Node] = field(default_factory=list)


def review(node: Node, source: bytes) -> Review:
    found = Review()
    _review(node, source, found, 0)
    return found


def _review(node: Node, source: bytes, found: Review, depth: int) -> None:
    if depth > 150:
        raise TooMuch
    if node.type in ("command_substitution", "process_substitution"):
        found.substitutions.append(node)
    whole, place = node.type in _WHOLE, node.start_byte
    for child in node.children:
        if not whole and _spoken(source[place : child.start_byte]):
            found.lost = True
        if child.child_count:
            if child.type != "function_definition":
                _review(child, source, found, depth + 1)
        elif child.type in _WORDS and _RUNS.search(source, child.start_byte, child.end_byte):
            found.lost = True
        place = child.end_byte
    if not whole and node.child_count and _spoken(source[place : node.end_byte]):
        found.lost = True


def _spoken(gap: bytes) -> bool:
    return bool(gap.strip(b" \t\r\n\\-"))


def _straightened(text: str) -> str:
    """The text with lines joined that a backslash breaks within a word, as the shell joins them."""
    return _BROKEN.sub("", text) if "\\\n" in text else text


def _reordered(text: str) -> str:
    """The text with what follows a here-document's operator on its line moved behind the document.

    The grammar cannot read `cat <<EOF; next`, the shell can.
    """
    lines = text.split("\n")
    for place, line in enumerate(lines):
        found = _HEREDOC.search(line)
        if found is None:
            continue
        end = next((at for at in range(place + 1, len(lines)) if lines[at].strip("\t") == found[2]), None)
        after = re.match(r"([^;&|'\"]*)(;|&(?!&))(.*)", line[found.end() :])
        if end is None or after is None:
            return text
        head = line[: found.end()] + after[1]
        return "\n".join(
            [*lines[:place], head, *lines[place + 1 : end + 1], _reordered("\n".join([after[3], *lines[end + 1 :]]))]
        )
    return text


def parse(text: str) -> tuple[Node, bytes]:
    """The tree of a shell text, and the bytes its places count in."""
    if len(text) > LONGEST:
        raise TooMuch("too-long")
    if any(text.count(sign) > most for sign, most in _MOST.items()):
        raise TooMuch
    source = text.encode("utf-8", "replace")
    until = time.thread_time() + _SECONDS
    late = False

    def read(offset: int, point: object) -> bytes:
        nonlocal late
        if time.thread_time() > until:
            late = True
            return b""
        return source[offset : offset + _CHUNK]

    tree = _parser().parse(read)
    if late:
        raise TooMuch
    return tree.root_node, source


def read(text: str) -> tuple[Node, bytes]:
    """The tree of a shell text; if it has errors that here-documents explain, of the text without them."""
    straight = _straightened(text)
    root, source = parse(straight)
    if root.has_error and "<<" in straight:
        other, moved = parse(_reordered(straight))
        if not other.has_error:
            return other, moved
    return root, source
