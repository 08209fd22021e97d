"""`laneway classify --no-model`: one text, many, and a file of labelled ones; no server, no model, no network."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from laneway.classify.local import LocalClassifier
from laneway.classify.taxonomy import Flag, Label, Taxonomy, load
from laneway.cli.judging import Asked, InProcess, asked_in
from laneway.errors import BadInput
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
    assert (found["rows"], found["accuracy"] >= 0.75, set(found["classes"])) == (4, True, {"cat", "dog"})
    assert sum(sum(given.values()) for given in found["confusion"].values()) == 4
    assert found["dangerous"]["dog routed elsewhere"]["of"] == 2
    assert found["false_alarms"]["dog"]["of"] == 2
    printed = pets.run("classify", "eval", str(file), "--taxonomy", "pets")
    for word in ("right when sure", "calibration error", "dangerous: dog routed elsewhere", "p95", "nearest example"):
        assert word in printed


ORDERS = ("show the logs", "list the users", "count the files", "restart nginx", "drop the table", "reboot the box")
MESSAGES = Taxonomy(
    "message",
    (
        Label("question", examples=("how full is the disk?", "is it up?", "why so slow?", "who is there?")),
        Label("command", examples=ORDERS),
        Label("other", examples=("hello", "thanks", "good day", "never mind")),
    ),
    (Flag("needs_confirmation", "command", yes=ORDERS[3:], no=ORDERS[:3]),),
    "question",
)


@pytest.fixture(scope="module")
def judge() -> InProcess:
    """A judge by words and grammar, trained in a moment."""
    return InProcess(MESSAGES, LocalClassifier({"message": MESSAGES}, encoders=[]))


def turns(*said: str) -> dict[str, Any]:
    """A line whose turns are by the user and the assistant in turn, the last one by the user."""
    authors = (["assistant", "user"] * len(said))[-len(said) :]
    return {"turns": [{"author": author, "text": text} for author, text in zip(authors, said, strict=True)]}


def test_a_turn_is_judged_by_what_it_refers_to_and_a_text_stands_alone(judge: InProcess) -> None:
    for said, label, confirm in (
        (("Shall I restart nginx?", "yes please"), "command", True),
        (("Shall I restart nginx?", "no"), "other", False),
        (("restart nginx", "Done, it runs again.", "undo that"), "command", True),
        (("is web1 up?", "Yes.", "and web2?"), "question", False),
    ):
        line = judge.judge(asked_in("message", turns(*said)))
        assert (line["label"], line["needs_confirmation"]) == (label, confirm), said
        assert list(line) == ["label", "needs_confirmation", "confidence", "tier", "unsure", "top", "ms"]
    assert judge.judge(Asked("hello"))["label"] == "other"
    assert judge.judge(asked_in("message", {"text": "restart nginx"}))["needs_confirmation"] is True
    for wrong in ([], "yes", [7], [{"author": "nobody", "text": "yes"}], [{"author": "user", "text": "\ud800"}]):
        with pytest.raises(BadInput):
            asked_in("message", {"turns": wrong})


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
