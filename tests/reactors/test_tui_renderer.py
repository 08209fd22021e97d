"""TuiRenderer: a line for each event worth seeing; whatever the agent wrote, the terminal stays ours."""

from __future__ import annotations

import random
import re
import unicodedata
from typing import Any

from laneway.domain.session import EventKind, SessionState
from laneway.reactors import Continue, ReactorContext
from laneway.reactors.tui_renderer import TuiRenderer, cut, line, plain
from tests.reactors.watched import Watched, told

ESCAPES = re.compile(r"\x1b\[\d+m")


def shown(kind: EventKind, **fields: Any) -> str | None:
    return line(told(kind, **fields), colour=False)


CALLS: list[tuple[str, dict[str, Any], str]] = [
    ("Read", {"file_path": "src/a.py"}, "◇ read Read src/a.py"),
    ("Edit", {"file_path": "src/a.py", "new_string": "x"}, "◆ write Edit src/a.py"),
    ("Bash", {"command": "make test"}, "$ exec Bash make test"),
    ("exec_command", {"cmd": "ls"}, "$ exec exec_command ls"),
    ("apply_patch", {"input": "*** Begin Patch"}, "◆ write apply_patch *** Begin Patch"),
    ("mcp__github__delete_branch", {"branch": "x"}, "◆ write mcp__github__delete_branch x"),
    ("AskUserQuestion", {"question": "Which?"}, "? ask AskUserQuestion Which?"),
    ("Task", {"prompt": "look"}, "⇢ delegate Task look"),
    ("TodoWrite", {"todos": []}, "· other TodoWrite"),
]


def test_calls_are_sorted_into_reading_writing_and_running() -> None:
    for tool, arguments, expected in CALLS:
        assert shown(EventKind.TOOL_CALLED, tool=tool, arguments=arguments) == f"09:00:00 {expected}"
    # Secrets are not shown.
    command = {"command": "curl -H 'Authorization: Bearer abcdefgh12345'"}
    assert "abcdefgh12345" not in str(shown(EventKind.TOOL_CALLED, tool="Bash", arguments=command))


def test_every_kind_of_event_has_its_line_or_none() -> None:
    assert shown(EventKind.STARTED, cwd="/a", model="m") == "09:00:00 ▶ claude-code m in /a"
    assert shown(EventKind.USER, text="do it") == "09:00:00 › do it"
    assert shown(EventKind.ASSISTANT, text="done\n\nreally") == "09:00:00 ● done really"
    assert shown(EventKind.ERROR, text="overloaded") == "09:00:00 ✗ overloaded"
    assert shown(EventKind.TOOL_ENDED, text="no such file", failed=True) == "09:00:00 ✗ failed: no such file"
    assert shown(EventKind.COMPACTED) == "09:00:00 ⇣ compacted"
    assert [shown(kind) for kind in (EventKind.TICK, EventKind.TOKENS, EventKind.OTHER)] == [None, None, None]
    assert shown(EventKind.TOOL_ENDED, text="fine") is None


def test_long_text_is_cut_by_columns_not_by_characters() -> None:
    assert cut("abcdef", 6) == "abcdef"
    assert cut("abcdefg", 6) == "abcde…"
    assert cut("日本語テキスト", 6) == "日本…"
    assert len(str(shown(EventKind.USER, text="x" * 5000))) == 100


def test_whatever_is_written_nothing_steers_the_terminal_or_hides_text() -> None:
    assert plain("a\x1b[2Jb\x07c\x9bd\r\ne\u202ef\u200bg\x00") == "a�[2Jb�c�d efg�"
    signs = [*map(chr, range(0x2100)), *"\ue000\ufeff\u2066\udc80", "😀", "日"]
    chance = random.Random(7)
    for _ in range(300):
        text = "".join(chance.choices(signs, k=60))
        for kind in (EventKind.USER, EventKind.TOOL_CALLED):
            told_line = line(told(kind, text=text, tool=text, arguments={text: text, "command": text}))
            assert told_line is not None
            rest = ESCAPES.sub("", told_line)
            assert not [sign for sign in rest if unicodedata.category(sign) in ("Cc", "Cs")]
            assert not re.search("[\u202a-\u202e\u2066-\u2069\u2028\u2029]", rest)


def test_it_always_answers_continue_and_is_silent_while_replaying() -> None:
    lines: list[str] = []
    renderer = TuiRenderer(lines.append, colour=False)
    state = SessionState("s", "codex")
    assert renderer.handle(ReactorContext(told(EventKind.USER, text="hi"), state)) == Continue()
    assert renderer.handle(ReactorContext(told(EventKind.USER, text="old"), state, replayed=True)) == Continue()
    assert lines == ["09:00:00 › hi"]
    assert Watched(renderer).call("Bash", {"command": "rm -rf /"}) == []
