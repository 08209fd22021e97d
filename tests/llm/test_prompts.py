"""Prompts ship with the package, and the owner can put others in their place."""

from __future__ import annotations

from pathlib import Path

import pytest

from laneway.errors import NotFound, SettingsError
from laneway.llm.prompts import NAMES, Prompts


def test_every_prompt_is_there_without_any_file(tmp_path: Path) -> None:
    prompts = Prompts(tmp_path)
    for name in NAMES:
        assert len(prompts.text(name)) > 200
        assert prompts.version(name).startswith("builtin:")
    with pytest.raises(NotFound, match="There are classification, execution, "):
        prompts.text("poetry")


def test_a_file_of_the_owner_replaces_a_prompt_and_its_version_changes_with_the_words(tmp_path: Path) -> None:
    (tmp_path / "prompts").mkdir()
    versions = []
    for text in ("Answer like a pirate.", "two", "Answer like a pirate."):
        (tmp_path / "prompts" / "execution.txt").write_text(f"{text}\n", encoding="utf-8")
        prompts = Prompts(tmp_path)
        assert prompts.text("execution") == text
        assert prompts.version("proactive").startswith("builtin:")
        versions.append(prompts.version("execution"))
    assert versions[0].startswith("override:")
    assert versions[0] == versions[2] != versions[1]


@pytest.mark.parametrize("content", [b"", b"  \n", b"\xff\xfe\xff"])
def test_an_empty_or_unreadable_file_is_named_at_the_start(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "proactive.txt").write_bytes(content)
    with pytest.raises(SettingsError, match=r"proactive\.txt"):
        Prompts(tmp_path)


def test_what_the_owner_wrote_about_the_business_stands_behind_its_rules(tmp_path: Path) -> None:
    rules = Prompts(tmp_path).text("business")
    (tmp_path / "business.md").write_text("Open from 9 to 17.\n", encoding="utf-8")
    (tmp_path / "other.md").write_text("Closed.", encoding="utf-8")
    found = Prompts(tmp_path)
    assert found.text("business").startswith(rules)
    assert found.text("business").endswith("Open from 9 to 17.")
    assert found.version("business").startswith("override:")
    assert "9 to 17" not in found.text("execution")
    assert Prompts(tmp_path, Path("other.md")).text("business").endswith("Closed.")
    assert Prompts(tmp_path, tmp_path / "other.md").text("business").endswith("Closed.")
    with pytest.raises(SettingsError, match=r"missing\.md cannot be read"):
        Prompts(tmp_path, Path("missing.md"))
