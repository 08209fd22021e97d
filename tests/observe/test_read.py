"""Every log gives the right counts, in one piece and in any pieces."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from laneway.domain.session import NO_TOKENS, SessionEvent, SessionState
from laneway.observe.read import read
from laneway.observe.reading import Reading
from laneway.observe.report import Report
from tests.observe import truth
from tests.observe.samples import OUTSIDE, OWN, Sample, outside

RULES = {"claude-code": truth.claude, "codex": truth.codex, "gemini-cli": truth.gemini, "pi": truth.pi}
LOGS = [sample for sample in OWN if sample.name.endswith(".jsonl")]


@pytest.mark.parametrize("sample", OWN, ids=str)
def test_a_log_of_our_own_is_counted_as_by_hand(sample: Sample, tmp_path: Path) -> None:
    told = read(sample.written(tmp_path)).as_json()
    assert sample.content == b"" or sample.name == "cut.json" or told["provider"] == sample.provider
    assert {name: told.get(name) for name in sample.expected} == sample.expected


@pytest.mark.parametrize("sample", LOGS, ids=str)
def test_a_log_of_our_own_is_counted_as_the_rules_say(sample: Sample, tmp_path: Path) -> None:
    agree_with_the_rules(sample.written(tmp_path), sample.provider)


@pytest.mark.parametrize("sample", LOGS, ids=str)
def test_pieces_change_nothing(sample: Sample) -> None:
    agree_in_pieces(sample.content, Path(sample.name), rounds=4 if len(sample.content) > 100_000 else 25)


def test_each_provider_is_shown_on_five_files_at_least() -> None:
    files = [sample.provider for sample in OWN]
    assert {provider for provider in RULES if files.count(provider) < 5} | {"copilot-cli"} - set(files) == set()


def test_public_logs_are_counted_as_the_rules_say_in_any_pieces() -> None:
    files = outside()
    # Without outside data there is nothing to look at, and the end of the run says so.
    assert (len(files) >= 18) == (OUTSIDE is not None)
    for path in files:
        provider = path.parent.name
        agree_with_the_rules(path, provider)
        if path.suffix == ".jsonl":
            agree_in_pieces(path.read_bytes(), path, rounds=10)


def agree_with_the_rules(path: Path, provider: str) -> None:
    told = read(path).as_json()
    content = path.read_bytes()
    assert told["provider"] == provider or not content, path
    records: list[dict[str, Any]]
    if path.suffix == ".jsonl":
        lines, records = truth.lines_truth(content)
        assert {name: told[name] for name in lines} == lines, path
    else:
        records = [json.loads(content)]
    if provider in RULES and records and "odd" not in path.name:
        expected = RULES[provider](whole(provider, records))
        assert {name: told[name] for name in expected} == expected, path


def whole(provider: str, records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The records without those that are broken inside, which the plain rules do not look for."""
    if provider == "pi":
        return [record for record in records if isinstance(record.get("message", {}), dict)]
    return records


def agree_in_pieces(content: bytes, path: Path, rounds: int) -> None:
    once = fed(path, [content])
    for seed in range(rounds):
        assert fed(path, cut(content, seed)) == once, f"{path} with seed {seed}"


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


@pytest.mark.parametrize("sample", [sample for sample in LOGS if sample.provider != "unknown"], ids=str)
def test_events_add_up_to_the_totals(sample: Sample) -> None:
    told, events = fed(Path(sample.name), [sample.content])
    state = SessionState("s", sample.provider)
    for event in events:
        state = state.after(event)
    assert state.tokens.total == sum(told["tokens"].values()) - told["tokens"]["reasoning"]
    assert sum((event.tokens for event in events), NO_TOKENS) == state.tokens
    assert sum(event.kind == "tool_called" for event in events) >= told["tool_calls"]["total"]
    assert len({(event.offset, event.part) for event in events}) == len(events)
