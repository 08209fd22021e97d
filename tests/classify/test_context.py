"""Short messages are judged by what they refer to, and by themselves where there is nothing to refer to."""

from __future__ import annotations

import pytest

from laneway.classify.context import Meaning, meant
from laneway.domain.conversation import Author
from laneway.domain.ids import new_id
from laneway.transcript import Turn


def turns(*texts: str) -> list[Turn]:
    """Turns that alternate and end with the user."""
    authors = [Author.USER, Author.ASSISTANT]
    return [Turn(new_id(), authors[(len(texts) - 1 - place) % 2], text) for place, text in enumerate(texts)]


@pytest.mark.parametrize(
    ("said", "text", "order"),
    [
        (("Shall I restart the print server?", "yes please"), "restart the print server", True),
        (("I can list the open tickets here.", "sure"), "list the open tickets here", True),
        (("Soll ich den Ordner leeren?", "ja, mach"), "den ordner leeren", True),
        (("reboot web1", "Done.", "and web2 too"), "reboot web1", False),
        (("how full is the disk?", "It is 40 % full.", "same for yesterday"), "how full is the disk?", False),
        (("delete a backup", "Which one, May or June?", "June"), "delete a backup", False),
        (("move my call", "I moved the call with Bo.", "no, the other one"), "move my call", False),
        (("ping the gateway", "It answers.", "once more"), "ping the gateway", False),
    ],
)
def test_a_short_message_means_what_it_refers_to(said: tuple[str, ...], text: str, order: bool) -> None:
    assert meant(turns(*said)) == Meaning(text, order)


@pytest.mark.parametrize(
    "said",
    [
        ("hello",),
        ("Shall I restart it?", "no, leave it"),
        ("It is done.", "yes"),
        ("delete a backup", "Which one?", "why do you ask?"),
        ("reboot web1", "Done.", "what is the capital of France and how many people live there, roughly speaking?"),
    ],
)
def test_a_message_that_can_stand_alone_stands_alone(said: tuple[str, ...]) -> None:
    assert meant(turns(*said)) == Meaning(said[-1])


def test_a_verb_of_its_own_beats_everything_said_before() -> None:
    assert meant(turns("show the copy", "Here it is.", "great, now drop it")).text.endswith("drop it")
