"""Taxonomies are files: what comes with Laneway, what the owner adds, and what is said when a file is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from laneway.classify.taxonomy import load, text_of
from laneway.errors import SettingsError

TWO_LABELS = '[labels.cat]\nexamples = ["meow", "purr"]\n[labels.dog]\nexamples = ["woof"]\n'


def home_with(folder: Path, name: str, text: str) -> Path:
    (folder / "taxonomies").mkdir(exist_ok=True)
    (folder / "taxonomies" / f"{name}.toml").write_text(text, encoding="utf-8")
    return folder


def test_five_taxonomies_come_with_laneway_each_with_enough_examples() -> None:
    taxonomies = load()
    assert set(taxonomies) == {"message", "lane", "function", "secretary", "route"}
    for taxonomy in taxonomies.values():
        counts = dict.fromkeys(taxonomy.names, 0)
        for _, label in taxonomy.examples():
            counts[label] += 1
        assert min(counts.values()) >= 60, taxonomy.name
        assert all(label.definition for label in taxonomy.labels)
    # Uncertain never becomes patch, code or an unconfirmed action.
    fallbacks = {name: taxonomies[name].fallback for name in ("lane", "function", "message")}
    assert fallbacks == {"lane": "execute", "function": "human", "message": "question"}


def test_no_example_stands_under_two_labels() -> None:
    for taxonomy in load().values():
        labels: dict[str, set[str]] = {}
        for text, label in taxonomy.examples():
            labels.setdefault(text, set()).add(label)
        assert [text for text, given in labels.items() if len(given) > 1] == [], taxonomy.name


def test_a_file_with_a_known_name_adds_examples_and_labels_and_changes_settings(tmp_path: Path) -> None:
    before = load()["lane"]
    text = 'precision = 0.9\n[labels.patch]\nexamples = ["rota: swap the two evening slots for good"]\n'
    home_with(tmp_path, "lane", text)
    home_with(tmp_path, "message", '[labels.praise]\n[flags.needs_confirmation]\nyes = ["go"]\n')
    line = '{"text": "set the flux valve to three", "label": "command", "needs_confirmation": true}'
    (tmp_path / "taxonomies" / "message.jsonl").write_text(line)
    after, message = load(tmp_path)["lane"], load(tmp_path)["message"]
    assert len(after.examples()) == len(before.examples()) + 1
    assert ("rota: swap the two evening slots for good", "patch") in after.examples()
    assert after.precision == 0.9
    assert (after.fallback, after.guard, after.names) == (before.fallback, before.guard, before.names)
    assert after.digest() != before.digest()
    assert message.names[-1] == "praise"
    assert message.flags[0].yes == (*load()["message"].flags[0].yes, "go", "set the flux valve to three")
    assert ("go", "command") in message.examples()


def test_lines_beside_the_file_add_examples_and_tell_flags(tmp_path: Path) -> None:
    home_with(tmp_path, "pets", f'{TWO_LABELS}\n[flags.loud]\napplies_to = "dog"\n')
    lines = tmp_path / "taxonomies" / "pets.jsonl"
    lines.write_text('{"text": "mrow", "label": "cat"}\n\n{"text": "WOOF", "label": "dog", "loud": true}\n')
    pets = load(tmp_path)["pets"]
    assert pets.examples()[-3:] == [("mrow", "cat"), ("woof", "dog"), ("WOOF", "dog")]
    assert (pets.flags[0].yes, pets.flags[0].no) == (("WOOF",), ())


WRONG_LINES = {
    '{"text": "moo", "label": "cow"}': "line 2: there is no label `cow`",
    '{"text": "moo"': "line 2 is not valid JSON",
    '{"label": "cat"}': "line 2 has neither a text nor a description",
}
WRONG_FILES = {
    "labels = [": "is not valid TOML",
    f"colour = 'red'\n{TWO_LABELS}": "unknown key `colour`",
    "labels = 3": "unknown key `labels`",
    "[labels.only]\nexamples = ['one']": "at least two labels",
    f"fallback = 'bird'\n{TWO_LABELS}": "the fallback `bird` is not one of its labels",
}


def test_a_wrong_line_or_file_is_refused_with_the_place_and_the_page_that_explains(tmp_path: Path) -> None:
    for text, says in WRONG_FILES.items():
        with pytest.raises(SettingsError, match="pets") as refused:
            load(home_with(tmp_path, "pets", text))
        assert says in str(refused.value)
    home_with(tmp_path, "pets", TWO_LABELS)
    for line, says in WRONG_LINES.items():
        (tmp_path / "taxonomies" / "pets.jsonl").write_text(f'{{"text": "mrow", "label": "cat"}}\n{line}\n')
        with pytest.raises(SettingsError) as refused:
            load(tmp_path)
        assert says in str(refused.value)


def test_a_function_is_judged_by_its_description_and_its_arguments() -> None:
    assert text_of("as it is") == "as it is"
    assert text_of({"description": "Add up", "args": {"a": 1, "b": "x" * 100}}) == f"Add up (a=1, b={'x' * 60})"
    assert text_of({"description": "Add up"}) == "Add up"
