"""Prompts ship with the package, and the owner can put others in their place."""

from __future__ import annotations

from pathlib import Path

import pytest

from laneway.errors import NotFound, SettingsError
from laneway.llm.prompts import NAMES, Prompts


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "prompts").mkdir()
    return tmp_path / "prompts"


def test_every_prompt_is_there_without_any_file(tmp_path: Path) -> None:
    prompts = Prompts(tmp_path)
    for name in NAMES:
        assert len(prompts.text(name)) > 200
        assert prompts.version(name).startswith("builtin:")


def test_the_classification_prompt_takes_no_orders_from_the_message(tmp_path: Path) -> None:
    assert "data" in Prompts(tmp_path).text("classification")


def test_a_file_of_the_owner_replaces_a_prompt(tmp_path: Path, folder: Path) -> None:
    (folder / "execution.txt").write_text("Answer like a pirate.\n", encoding="utf-8")
    prompts = Prompts(tmp_path)
    assert prompts.text("execution") == "Answer like a pirate."
    assert prompts.version("execution").startswith("override:")
    assert prompts.version("proactive").startswith("builtin:")


def test_the_version_changes_with_the_words(tmp_path: Path, folder: Path) -> None:
    versions = set()
    for text in ("one", "two", "one"):
        (folder / "execution.txt").write_text(text, encoding="utf-8")
        versions.add(Prompts(tmp_path).version("execution"))
    assert len(versions) == 2


@pytest.mark.parametrize("content", [b"", b"  \n", b"\xff\xfe\xff"])
def test_an_empty_or_unreadable_file_is_named_at_the_start(tmp_path: Path, folder: Path, content: bytes) -> None:
    (folder / "proactive.txt").write_bytes(content)
    with pytest.raises(SettingsError, match=r"proactive\.txt"):
        Prompts(tmp_path)


def test_an_unknown_prompt_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="There are classification, execution, "):
        Prompts(tmp_path).text("poetry")
