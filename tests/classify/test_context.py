"""Short messages are judged by what they refer to, and by themselves where there is nothing to refer to."""

from __future__ import annotations

import time

import pytest

from laneway.classify.context import Meaning, meant, stands_alone
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
        (("Shall I restart the print server?", "hm, ok then"), "restart the print server", True),
        (("Shall I restart the print server?", "only after midnight"), "restart the print server", True),
        (("I can list the open tickets here.", "sure"), "list the open tickets here", True),
        (("Soll ich den Ordner leeren?", "ja, mach"), "den ordner leeren", True),
        (("Tests are green. Deploy now?", "👍🏽"), "deploy now", True),
        (("I can drop the copy. Shall I?", "good idea"), "drop the copy", True),
        (("Please confirm: pay the invoice.", "confirmed"), "pay the invoice", True),
        (("A) roll back, B) wait an hour. Which?", "A"), "roll back", True),
        (("I can discard them or move them.", "the latter"), "move them", True),
        (("reboot web1", "Done.", "and web2 too"), "reboot web1", False),
        (("reboot web1", "Done.", "did it work?", "Yes.", "ok, same for web2"), "reboot web1", False),
        (("reboot web1", "Done.", "the cable was loose, I fixed that", "Good.", "once more"), "reboot web1", False),
        (("delete a backup", "Which one, May or June?", "June"), "delete a backup", False),
        (("delete a backup", "Are you sure?", "yes"), "delete a backup", False),
        (("move my call", "I moved the call with Bo.", "no, the other one"), "move my call", False),
        (("ping the gateway", "It answers.", "once more"), "ping the gateway", False),
        (("list the tickets", "48 tickets.", "only mine"), "list the tickets", False),
        (("toon de omzet van maart", "48.210 euro.", "doe april ook even"), "toon de omzet van maart", False),
    ],
)
def test_a_short_message_means_what_it_refers_to(said: tuple[str, ...], text: str, order: bool) -> None:
    assert meant(turns(*said)) == Meaning(text, order)


@pytest.mark.parametrize(
    "message",
    ["no", "nah leave it for now", "let me think about it", "Tom already did that", "none of them", "stop",
     "lieber nicht", "mejor no",
     "laisse tomber", "meglio di no", "agora não", "laat maar", "нет, не надо", "算了", "結構です"],
)  # fmt: skip
def test_a_refusal_asks_for_nothing(message: str) -> None:
    judged = meant(turns("clean up", "Shall I delete the old images?", message))
    assert (judged.label, judged.order, judged.confirm) == ("other", False, False)


@pytest.mark.parametrize("message", ["yes", "sure", "ok thanks", "👍", "perfect", "that's more than I thought"])
def test_assent_to_nothing_asks_for_nothing(message: str) -> None:
    assert meant(turns("how many tickets?", "There are 48.", message)).label == "other"


@pytest.mark.parametrize(
    "message", ["why?", "hmm, how big are they", "which ones would that be?", "¿por qué?", "wie viele"]
)
def test_a_question_about_an_offer_does_not_accept_it(message: str) -> None:
    judged = meant(turns("Shall I delete the old images?", message))
    assert (judged.label, judged.order) == ("question", False)


def test_what_refers_to_a_question_is_a_question() -> None:
    assert meant(turns("how full is the disk?", "40 %.", "same for web2")).label == "question"


@pytest.mark.parametrize(
    "message", ["a bit friendlier", "now in French", "as a table", "shorter, and less formal", "mention the price"]
)
def test_another_shape_of_a_text_changes_nothing_else(message: str) -> None:
    judged = meant(turns("draft a reply to the landlord", "Dear Mr Weiss …", message))
    assert (judged.order, judged.confirm) == (True, False)


@pytest.mark.parametrize(
    "said",
    [
        ("send the report to Kim", "Sent.", "shorter please"),
        ("explain why it is slow", "Too few workers.", "set workers to 8"),
        ("draft a mail to Kim", "Dear Kim …", "add Bob to the recipients"),
        ("Shall I list the jobs?", "yes, and while you are at it restart the queue"),
        ("show one of the reports", "May or June?", "May, and delete the others"),
        ("deploy 4.2", "The dry run is planned for 8.", "right after the dry run"),
    ],
)
def test_a_change_is_never_taken_for_a_matter_of_words(said: tuple[str, ...]) -> None:
    judged = meant(turns(*said))
    assert judged.confirm is not False
    assert any(verb in judged.text for verb in ("send", "set", "add", "restart", "delete", "deploy"))


def test_a_rehearsal_that_is_to_be_done_in_earnest_needs_a_yes() -> None:
    assert meant(turns("do a dry run of the cleanup", "312 files would go.", "now for real")).confirm is True


def test_a_go_ahead_to_nothing_named_needs_a_yes() -> None:
    assert meant(turns("is it up?", "No. The usual fix is a restart.", "then do that")).confirm is True


def test_taking_back_what_was_done_needs_a_yes() -> None:
    judged = meant(turns("rename it", "Done.", "the old name was better, change it back"))
    assert (judged.order, judged.confirm) == (True, True)


@pytest.mark.parametrize(
    "said",
    [
        ("hello",),
        ("reboot web1", "Done.", "what is the capital of France and how many people live there, roughly speaking?"),
        ("reboot web1", "Done.", "list the jobs of every user on the other three machines, sorted by their age"),
    ],
)
def test_a_message_that_can_stand_alone_stands_alone(said: tuple[str, ...]) -> None:
    assert meant(turns(*said)).text.casefold().startswith(said[-1].casefold()[:40])


@pytest.mark.parametrize(
    ("message", "alone"),
    [
        ("June", False),
        ("yes, please do that, because the disk is nearly full and nobody needs the old images", False),
        ("list the jobs of every user on the other three machines, sorted by their age", True),
    ],
)
def test_a_long_message_stands_alone_unless_it_answers(message: str, alone: bool) -> None:
    assert stands_alone(turns("Shall I delete the old images?", message)) is alone


def test_a_verb_of_its_own_beats_everything_said_before() -> None:
    assert meant(turns("show the copy", "Here it is.", "great, now drop it")).text.endswith("drop it")


@pytest.mark.parametrize(
    ("said", "text"),
    [
        (("db2 hangs", "Shall I reboot db2?", "is anyone connected?", "Nobody.", "then yes"), "reboot db2"),
        (("one host runs the old kernel", "Which host shall I reboot?", "web3"), "reboot"),
        (("search is slow", "a) restarting the index b) more memory.", "a, but at night"), "restart the index"),
        (("it is down", "I can roll back, or restart the workers.", "the former, quick"), "roll back"),
        (("what expires?", "Options: 1) renew all 2) renew the shop 3) wait.", "just the shop"), "renew the shop"),
        (("the forum is unused", "Shall I drop it or keep it?", "drop it"), "drop it"),
        (("the banner is old", "I'd put the red one up.", "nah the blue one"), "put the red one up"),
    ],
)
def test_an_open_offer_is_taken_up_in_many_ways(said: tuple[str, ...], text: str) -> None:
    judged = meant(turns(*said))
    assert (judged.text, judged.order) == (text, True)


@pytest.mark.parametrize(
    "message", ["20%?? of what", "newer how", "more important, is it on the invoice", "for me earlier is not possible?"]
)
def test_a_question_is_heard_wherever_its_words_stand(message: str) -> None:
    assert meant(turns("order paper", "Ordered, it comes on Friday.", message)).label == "question"


@pytest.mark.parametrize(
    "message",
    ["good to know", "just as it should be", "yeah they were late all week", "i don't have it either. forget it"],
)
def test_what_only_tells_something_asks_for_nothing(message: str) -> None:
    assert meant(turns("order paper", "Ordered, it comes on Friday.", message)).label == "other"


@pytest.mark.parametrize("message", ["prod I meant", "web2, not web1", "wait, I meant web2"])
def test_a_correction_repeats_the_request(message: str) -> None:
    assert meant(turns("reboot web1", "Rebooted.", message)).text == "reboot web1"


@pytest.mark.alone
def test_a_long_thread_is_understood_at_once() -> None:
    began = time.perf_counter()
    meant(turns(*["reboot web1", "Done. Shall I reboot web2?", "and web3 too", "Done."] * 25, "again"))
    assert time.perf_counter() - began < 2
