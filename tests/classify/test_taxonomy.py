"""Taxonomies are files: what comes with Laneway, what the owner adds, and what is said when a file is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from laneway.classify.taxonomy import BUILT_IN, load, text_of
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


def test_uncertain_never_becomes_patch_code_or_an_unconfirmed_action() -> None:
    taxonomies = load()
    assert taxonomies["lane"].fallback == "execute"
    assert taxonomies["function"].fallback == "human"
    assert taxonomies["message"].fallback != "command"


def test_no_example_stands_under_two_labels() -> None:
    for taxonomy in load().values():
        labels: dict[str, set[str]] = {}
        for text, label in taxonomy.examples():
            labels.setdefault(text, set()).add(label)
        assert [text for text, given in labels.items() if len(given) > 1] == [], taxonomy.name


def test_a_new_file_is_a_new_taxonomy(tmp_path: Path) -> None:
    pets = load(home_with(tmp_path, "pets", TWO_LABELS))["pets"]
    assert pets.names == ["cat", "dog"]
    assert pets.fallback == "cat"
    assert pets.precision == 0.98
    assert pets.examples() == [("meow", "cat"), ("purr", "cat"), ("woof", "dog")]


def test_a_file_with_a_known_name_adds_examples_and_changes_settings(tmp_path: Path) -> None:
    before = load()["lane"]
    text = 'precision = 0.9\n[labels.patch]\nexamples = ["rota: swap the two evening slots for good"]\n'
    after = load(home_with(tmp_path, "lane", text))["lane"]
    assert len(after.examples()) == len(before.examples()) + 1
    assert ("rota: swap the two evening slots for good", "patch") in after.examples()
    assert after.precision == 0.9
    assert (after.fallback, after.guard, after.names) == (before.fallback, before.guard, before.names)
    assert after.digest() != before.digest()


def test_a_known_taxonomy_can_get_another_label_and_further_flag_examples(tmp_path: Path) -> None:
    home_with(
        tmp_path, "message", '[labels.praise]\nexamples = ["you rock"]\n[flags.needs_confirmation]\nyes = ["go"]\n'
    )
    message = load(tmp_path)["message"]
    assert message.names[-1] == "praise"
    assert "go" in message.flags[0].yes
    assert ("go", "command") in message.examples()


def test_lines_beside_the_file_add_examples_and_tell_flags(tmp_path: Path) -> None:
    home_with(tmp_path, "pets", f'{TWO_LABELS}\n[flags.loud]\napplies_to = "dog"\n')
    lines = tmp_path / "taxonomies" / "pets.jsonl"
    lines.write_text('{"text": "mrow", "label": "cat"}\n\n{"text": "WOOF", "label": "dog", "loud": true}\n')
    pets = load(tmp_path)["pets"]
    assert pets.examples()[-3:] == [("mrow", "cat"), ("woof", "dog"), ("WOOF", "dog")]
    assert (pets.flags[0].yes, pets.flags[0].no) == (("WOOF",), ())


def test_lines_add_to_a_taxonomy_that_comes_with_the_program(tmp_path: Path) -> None:
    (tmp_path / "taxonomies").mkdir()
    line = '{"text": "set the flux valve to three", "label": "command", "needs_confirmation": true}'
    (tmp_path / "taxonomies" / "message.jsonl").write_text(line)
    before, after = load()["message"], load(tmp_path)["message"]
    assert after.flags[0].yes == (*before.flags[0].yes, "set the flux valve to three")
    assert len(after.examples()) == len(before.examples()) + 1


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"text": "moo", "label": "cow"}', "line 2: there is no label `cow`"),
        ('{"text": "moo"', "line 2 is not valid JSON"),
        ('{"label": "cat"}', "line 2 has neither a text nor a description"),
    ],
)
def test_a_wrong_line_is_refused_by_its_number(tmp_path: Path, line: str, says: str) -> None:
    home_with(tmp_path, "pets", TWO_LABELS)
    (tmp_path / "taxonomies" / "pets.jsonl").write_text(f'{{"text": "mrow", "label": "cat"}}\n{line}\n')
    with pytest.raises(SettingsError) as refused:
        load(tmp_path)
    assert says in str(refused.value)


def test_the_fingerprint_is_the_same_for_the_same_content(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    first.mkdir()
    second.mkdir()
    assert load(home_with(first, "pets", TWO_LABELS))["pets"].digest() == (
        load(home_with(second, "pets", f"# a remark\n{TWO_LABELS}"))["pets"].digest()
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("labels = [", "is not valid TOML"),
        (f"colour = 'red'\n{TWO_LABELS}", "unknown key `colour`"),
        ("labels = 3", "unknown key `labels`"),
        ("[labels.only]\nexamples = ['one']", "at least two labels"),
        (f"fallback = 'bird'\n{TWO_LABELS}", "the fallback `bird` is not one of its labels"),
    ],
)
def test_a_wrong_file_is_refused_with_the_place_and_the_page_that_explains(
    tmp_path: Path, text: str, says: str
) -> None:
    with pytest.raises(SettingsError, match="pets") as refused:
        load(home_with(tmp_path, "pets", text))
    assert says in str(refused.value)


def test_a_function_is_judged_by_its_description_and_its_arguments() -> None:
    assert text_of("as it is") == "as it is"
    assert text_of({"description": "Add up", "args": {"a": 1, "b": "x" * 100}}) == f"Add up (a=1, b={'x' * 60})"
    assert text_of({"description": "Add up"}) == "Add up"


def test_the_built_in_files_are_named_after_what_they_hold() -> None:
    for path in BUILT_IN.glob("*.toml"):
        assert f'name = "{path.stem}"' in path.read_text(encoding="utf-8")
