"""`laneway classify --no-model`: one text, many, and a file of labelled ones; no server, no model, no network."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from laneway.classify.taxonomy import load
from tests.cli.processes import Shell

PETS = """
fallback = "dog"
guard = { label = "dog", most_missed = 0.1 }

[labels.cat]
definition = "About cats."
examples = ["the cat purrs", "a kitten meows", "my cat sleeps all day", "cats like cream", "kitten on the sofa",
            "the tomcat hunts mice"]

[labels.dog]
definition = "About dogs."
examples = ["the dog barks", "a puppy wags its tail", "walk the dog twice", "dogs chew bones", "puppy in the park",
            "the hound follows a scent"]
"""


@pytest.fixture(scope="module")
def pets(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """A shell whose data directory holds a small taxonomy of the owner's; its weights are trained once."""
    folder = tmp_path_factory.mktemp("pets")
    (folder / "home" / "taxonomies").mkdir(parents=True)
    (folder / "home" / "taxonomies" / "pets.toml").write_text(PETS, encoding="utf-8")
    return Shell(folder, {"LANEWAY_HOME": str(folder / "home")})


def lines(printed: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in printed.splitlines()]


def test_a_text_is_judged_by_the_owners_own_taxonomy(pets: Shell) -> None:
    printed = pets.run("classify", "--taxonomy", "pets", "--no-model", "Kittens drink milk")
    assert printed.startswith("cat (")
    assert "tier" in printed
    assert list((Path(pets.environ["LANEWAY_HOME"]) / "cache" / "classify").glob("pets-*.npz"))
    judged = json.loads(pets.run("classify", "--taxonomy", "pets", "--no-model", "--json", "The dog barks!"))
    assert (judged["label"], judged["tier"], judged["unsure"]) == ("dog", 0, False)
    assert judged["top"] == [["dog", judged["confidence"]]]
    assert "needs_confirmation" not in judged


@pytest.mark.usefixtures("without_encoders")
def test_a_line_is_answered_by_a_line_and_a_bad_one_by_an_error(pets: Shell) -> None:
    asked = [
        '{"text": "the puppy sleeps in the garden"}',
        '{"description": "stroke a cat", "args": {"times": 3}}',
        "not json",
        '{"text": 7}',
        '["a list"]',
        '{"description": "x", "args": "y"}',
        '{"text": "\\ud800"}',
        "",
    ]
    printed = pets.run("classify", "--taxonomy", "pets", "--jsonl", "--no-model", typed="\n".join(asked), code=2)
    first, second, *bad = lines(printed)
    assert set(first) == {"label", "confidence", "tier", "unsure", "top", "ms"}
    assert first["label"] == "dog"
    assert second["label"] in {"cat", "dog"}
    assert [list(answer) for answer in bad] == [["error"]] * 5


@pytest.mark.usefixtures("without_encoders")
def test_only_good_lines_end_with_zero(pets: Shell) -> None:
    [judged] = lines(pets.run("classify", "-t", "pets", "--no-model", "--jsonl", typed='{"text": "the cat purrs"}\n'))
    assert judged["label"] == "cat"
    assert pets.run("classify", "-t", "pets", "--no-model", "--jsonl") == ""


@pytest.mark.usefixtures("without_encoders")
def test_a_flag_is_told_where_the_taxonomy_has_it(pets: Shell) -> None:
    home = pets.folder / "flagged"
    (home / "taxonomies").mkdir(parents=True)
    flag = '[flags.needs_confirmation]\napplies_to = "act"\nyes = ["wipe it", "drop the table"]\nno = ["show it"]\n'
    labels = '[labels.act]\nexamples = ["do it now"]\n[labels.talk]\nexamples = ["hello", "good day"]\n'
    (home / "taxonomies" / "flagged.toml").write_text(labels + flag, encoding="utf-8")
    asked = ("classify", "--taxonomy", "flagged", "--no-model", "--jsonl")
    [judged] = lines(pets.run(*asked, typed='{"text": "hello"}\n', LANEWAY_HOME=str(home)))
    assert judged["needs_confirmation"] is False


@pytest.mark.usefixtures("without_encoders")
def test_what_cannot_be_judged_or_measured_is_refused(pets: Shell) -> None:
    said = pets.refused("classify", "--taxonomy", "colours", "--no-model", "red")
    assert said == ("Error: There is no taxonomy `colours`. There are function, lane, message, pets, route, secretary.")
    assert "either a text or --jsonl" in pets.refused("classify", "--taxonomy", "pets")
    assert "either a text or --jsonl" in pets.refused("classify", "--taxonomy", "pets", "--jsonl", "cat")
    file = pets.folder / "wrong.jsonl"
    file.write_text('{"text": "a", "label": "cat"}\n\n{"text": "b", "label": "bird"}\n')
    assert "wrong.jsonl, line 3: `bird` is not a label" in pets.refused("classify", "eval", str(file), "-t", "pets")
    assert "cannot be read" in pets.refused("classify", "eval", "nowhere.jsonl", "-t", "pets")


def test_a_labelled_file_is_measured(pets: Shell) -> None:
    file = pets.folder / "labelled.jsonl"
    rows = [("a cat in a tree", "cat"), ("puppies bark loudly", "dog"), ("the dog digs", "dog"), ("meow", "cat")]
    file.write_text("".join(json.dumps({"text": text, "label": label}) + "\n" for text, label in rows))
    found = json.loads(pets.run("classify", "eval", str(file), "--taxonomy", "pets", "--no-model", "--json"))
    assert found["rows"] == 4
    assert found["accuracy"] >= 0.75
    assert set(found["classes"]) == {"cat", "dog"}
    assert sum(sum(given.values()) for given in found["confusion"].values()) == 4
    assert found["dangerous"]["dog routed elsewhere"]["of"] == 2
    assert found["false_alarms"]["dog"]["of"] == 2
    assert sum(found["tiers"].values()) == 4
    assert 0 < found["similarity_mean"] <= found["similarity_max"] <= 1.001
    printed = pets.run("classify", "eval", str(file), "--taxonomy", "pets")
    for word in ("right when sure", "calibration error", "dangerous: dog routed elsewhere", "p95", "nearest example"):
        assert word in printed


DOCS = Path(__file__).parents[2] / "docs" / "adding-a-taxonomy.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", DOCS.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def test_the_worked_example_of_a_taxonomy_works_as_printed(shell: Shell) -> None:
    tickets, addition = blocks("toml")
    [labelled] = blocks("json")
    trying, measuring = blocks("bash")
    folder = Path(shell.environ["LANEWAY_HOME"]) / "taxonomies"
    folder.mkdir(parents=True)
    (folder / "tickets.toml").write_text(tickets, encoding="utf-8")
    (folder / "message.toml").write_text(addition, encoding="utf-8")
    (shell.folder / "labelled.jsonl").write_text(labelled, encoding="utf-8")

    first, second = (shell.run(*shlex.split(line)[1:]) for line in trying.splitlines())
    assert first.startswith("incident (")
    assert json.loads(second)["label"] == "wish"
    assert "dangerous: incident routed elsewhere" in shell.run(*shlex.split(measuring)[1:])
    [flag] = load(folder.parent)["message"].flags
    assert "push the blue build live" in flag.yes
