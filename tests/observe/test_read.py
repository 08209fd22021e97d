"""Every log gives the right counts, in one piece and in any pieces."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from laneway.domain.session import NO_TOKENS, SessionEvent, SessionState
from laneway.observe.read import read
from laneway.observe.reading import Reading
from laneway.observe.report import Report
from tests.observe.samples import OUTSIDE, OWN, outside

LOGS = [sample for sample in OWN if sample.name.endswith(".jsonl")]
OPENCODE = "opencode/junhoyeo__tokscale--storage--message--test-project--msg_test001.json"
PUBLIC = {
    OPENCODE: (0, 1, 0, 0, 1000, 500, 200, 100, 0),
    "claude-code/daaain__claude-code-log--edge_cases.jsonl": (2, 4, 3, 1, 488, 435, 0, 0, 0),
    "claude-code/daaain__claude-code-log--representative_messages.jsonl": (4, 5, 2, 0, 218, 445, 0, 0, 0),
    "claude-code/kenn-io__agentsview--tool_call_pending.jsonl": (1, 1, 1, 0, 100, 50, 0, 0, 0),
    "claude-code/kenn-io__agentsview--truncated.jsonl": (1, 1, 0, 0, 10, 5, 0, 0, 0),
    "claude-code/lanegrid__agtrace--claude_agent.jsonl": (0, 1, 0, 0, 487, 130, 0, 0, 0),
    "claude-code/lanegrid__agtrace--claude_session.jsonl": (2, 6, 4, 1, 74, 844, 93553, 5158, 0),
    "claude-code/marot__spotter--short.jsonl": (1, 1, 2, 2, 3, 13, 11515, 13835, 0),
    "claude-code/simonw__claude-code-transcripts--sample_session.jsonl": (2, 3, 2, 0, 0, 0, 0, 0, 0),
    "codex/kenn-io__agentsview--codex--function_calls.jsonl": (1, 0, 1, 0, 0, 0, 0, 0, 0),
    "codex/kenn-io__agentsview--codex--standard_session.jsonl": (1, 1, 0, 0, 0, 0, 0, 0, 0),
    "codex/lanegrid__agtrace--codex_parent_with_spawns.jsonl": (2, 2, 0, 0, 0, 0, 0, 0, 0),
    "codex/lanegrid__agtrace--codex_session.jsonl": (2, 2, 5, 2, 3828, 408, 22912, 0, 128),
    "codex/lanegrid__agtrace--codex_subagent_matched.jsonl": (0, 1, 0, 0, 0, 0, 0, 0, 0),
    "gemini-cli/kenn-io__agentsview--tool_calls_with_results.json": (1, 1, 2, 0, 0, 0, 0, 0, 0),
    "gemini-cli/lanegrid__agtrace--gemini_session.json": (2, 7, 5, 0, 23896, 677, 43377, 0, 377),
    "gemini-cli/littlebearapps__mcp-audit--session-sample.json": (2, 2, 2, 0, 890, 4400, 125, 0, 2700),
    "pi/kenn-io__agentsview--session.jsonl": (2, 2, 1, 0, 300, 60, 0, 0, 0),
}
"""User turns, answers, calls, failed calls, then tokens: input, output, cache read, cache write, reasoning."""


def test_logs_of_our_own_are_counted_as_by_hand(tmp_path: Path) -> None:
    wrong = []
    for sample in OWN:
        told = read(sample.written(tmp_path)).as_json()
        if sample.content and sample.name != "cut.json" and told["provider"] != sample.provider:
            wrong.append(f"{sample} is taken for one of {told['provider']}")
        for name, expected in sample.expected.items():
            if told.get(name) != expected:
                wrong.append(f"{sample}: {name} is {told.get(name)} and not {expected}")
    assert not wrong, "\n".join(wrong)


def test_public_logs_are_counted_right_in_any_pieces() -> None:
    # Without outside data there is nothing to look at, and the end of the run says so.
    files = {f"{path.parent.name}/{path.name}": path for path in outside()}
    assert set(files) >= (set(PUBLIC) if OUTSIDE else set())
    wrong = []
    for name, expected in PUBLIC.items() if OUTSIDE else ():
        told = read(files[name]).as_json()
        kinds = ("input", "output", "cache_read", "cache_write", "reasoning")
        found = (told["user_turns"], told["assistant_messages"], told["tool_calls"]["total"], told["tool_errors"],
                 *(told["tokens"][kind] for kind in kinds))  # fmt: skip
        if (told["provider"], found) != (files[name].parent.name, expected):
            wrong.append(f"{name}: {told['provider']} {found}")
        if name.endswith(".jsonl"):
            wrong += differing_pieces(files[name].read_bytes(), files[name], rounds=6)
    assert not wrong, "\n".join(wrong)


def test_pieces_change_nothing() -> None:
    wrong = []
    for sample in LOGS:
        wrong += differing_pieces(sample.content, Path(sample.name), rounds=3 if len(sample.content) > 100_000 else 12)
    assert not wrong, "\n".join(wrong)


def differing_pieces(content: bytes, path: Path, rounds: int) -> list[str]:
    once = fed(path, [content])
    return [f"{path} with seed {seed}" for seed in range(rounds) if fed(path, cut(content, seed)) != once]


def cut(content: bytes, seed: int) -> list[bytes]:
    """The bytes in random pieces; with the first seeds, in very small ones."""
    chance = random.Random(seed)
    longest = (1, 2, 7, 100, 4096, 1_000_000)[seed % 6] if len(content) < 100_000 else 1_500_000
    pieces, start = [], 0
    while start < len(content):
        end = start + chance.randint(1, longest)
        pieces.append(content[start:end])
        start = end
    return pieces


def fed(path: Path, pieces: list[bytes]) -> tuple[dict[str, Any], list[SessionEvent]]:
    reading = Reading(path, wanted=True)
    events: list[SessionEvent] = []
    for piece in pieces:
        reading.feed(piece)
        events += reading.take()
    reader = reading.finish()
    report = Report(path.name, lines=reading.lines)
    report.told_by(reader)
    return report.as_json(), events + reader.take()


def test_events_add_up_to_the_totals() -> None:
    wrong = []
    for sample in LOGS:
        if sample.provider == "unknown":
            continue
        told, events = fed(Path(sample.name), [sample.content])
        state = SessionState("s", sample.provider)
        for event in events:
            state = state.after(event)
        right = (
            state.tokens.total == sum(told["tokens"].values()) - told["tokens"]["reasoning"]
            and sum((event.tokens for event in events), NO_TOKENS) == state.tokens
            and sum(event.kind == "tool_called" for event in events) >= told["tool_calls"]["total"]
            and len({(event.offset, event.part) for event in events}) == len(events)
        )
        wrong += [] if right else [str(sample)]
    assert not wrong, wrong
