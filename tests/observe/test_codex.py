"""Codex's forks are told from what they copied, and compressed logs are read like plain ones."""

from __future__ import annotations

from pathlib import Path

from laneway.observe.read import read
from laneway.observe.sources import zstandard
from tests.observe.codex_logs import count, event, meta, said, spent
from tests.observe.logs import Json, log, tokens

zstd = zstandard()


def turn(name: str) -> Json:
    return event("task_started", turn_id=name)


HISTORY = (turn("t1"), event("user_message", message="one"), count(spent(100, 10, 50)), count(spent(100, 10, 50)),
           turn("t2"), event("user_message", message="two"), count(spent(300, 30, 150)))  # fmt: skip
MORE = (turn("t3"), event("user_message", message="three"), count(spent(340, 34, 190), spent(40, 4, 40)),
        said("assistant", "done"))  # fmt: skip
OWN_PART = {"tokens": tokens(input=40, output=4, cache_read=40), "user_turns": 1}
PARENTS: tuple[Json, ...] = (
    {"forked_from_id": "parent"},
    {"parent_thread_id": "parent"},
    {"forked_from_id": "lost", "parent_thread_id": "parent"},
    {"source": {"subagent": {"thread_spawn": {"parent_thread_id": "parent", "depth": 1}}}},
)


def family(folder: Path, **fields: object) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "rollout-parent.jsonl").write_bytes(log(meta("parent"), *HISTORY, turn("t9"), count(spent(900, 90))))
    child = folder / "rollout-child.jsonl"
    child.write_bytes(log(meta("child", **fields), meta("parent"), *HISTORY, *MORE))
    return child


def test_a_fork_counts_what_it_did_itself(tmp_path: Path) -> None:
    for fields in PARENTS:
        told = read(family(tmp_path, **fields)).as_json()
        assert (told["session_id"], told["user_turns"], told["uncertain"]) == ("child", 3, []), fields
        assert told["tokens"] == tokens(input=340, output=34, cache_read=190), fields
        assert told["own"] == OWN_PART, fields


def test_a_parent_is_found_in_another_days_folder_and_when_it_is_compressed(tmp_path: Path) -> None:
    root = tmp_path / "sessions" / "2026" / "01"
    child = family(root / "02", forked_from_id="parent")
    parent = root / "02" / "rollout-parent.jsonl"
    (root / "01").mkdir()
    (root / "01" / "rollout-2026-01-01-parent.jsonl.zst").write_bytes(zstd.compress(parent.read_bytes()))
    parent.unlink()
    assert read(child).as_json()["own"] == OWN_PART


def test_without_the_parent_the_number_is_called_uncertain_unless_ordinals_tell_it(tmp_path: Path) -> None:
    child = family(tmp_path, forked_from_id="parent")
    (tmp_path / "rollout-parent.jsonl").unlink()
    told = read(child).as_json()
    assert "own" not in told
    assert any("parent" in reason for reason in told["uncertain"])
    lines = [line | {"ordinal": number} for number, line in enumerate((*HISTORY, *MORE))]
    head = meta("child", parent_thread_id="lost", subagent_history_start_ordinal=len(HISTORY))
    child.write_bytes(log(head, *lines))
    assert read(child).as_json()["own"] == OWN_PART


def test_a_fork_without_turn_ids_does_not_claim_to_know_its_turns(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(log(meta("parent"), count(spent(5, 5))))
    child = tmp_path / "b.jsonl"
    child.write_bytes(log(meta("child", forked_from_id="parent"), count(spent(5, 5)), count(spent(9, 6))))
    assert read(child).as_json()["own"] == {"tokens": tokens(input=4, output=1), "user_turns": None}
    # One that calls itself its parent is read, too.
    child.write_bytes(log(meta("self", forked_from_id="self"), count(spent(5, 5))))
    assert read(child).as_json()["tokens"] == tokens(input=5, output=5)


def test_damaged_compression_costs_only_what_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "rollout-x.jsonl.zst"
    whole = zstd.compress(log(meta("z"), event("user_message", message="hi")))
    path.write_bytes(whole + zstd.compress(log(event("user_message", message="ho")) * 500)[:-9])
    told = read(path).as_json()
    assert told["session_id"] == "z"
    assert told["user_turns"] >= 1
    assert any("part only" in warning for warning in told["warnings"])
    path.write_bytes(b"no zstandard at all")
    told = read(path).as_json()
    assert told["lines"] == 0
    assert "damaged" in told["error"]
