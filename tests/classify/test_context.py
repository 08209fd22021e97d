"""Short messages are judged by what they refer to, and by themselves where there is nothing to refer to."""

from __future__ import annotations

from laneway.classify.context import Meaning, meant, stands_alone
from tests.classify.asking import turns

OFFERS = {
    ("Shall I restart the print server?", "yes please"): "restart the print server",
    ("Shall I restart the print server?", "only after midnight"): "restart the print server",
    ("I can list the open tickets here.", "sure"): "list the open tickets here",
    ("Soll ich den Ordner leeren?", "ja, mach"): "den ordner leeren",
    ("Tests are green. Deploy now?", "👍🏽"): "deploy now",
    ("I can drop the copy. Shall I?", "good idea"): "drop the copy",
    ("Please confirm: pay the invoice.", "confirmed"): "pay the invoice",
    ("A) roll back, B) wait an hour. Which?", "A"): "roll back",
    ("I can discard them or move them.", "the latter"): "move them",
    ("db2 hangs", "Shall I reboot db2?", "is anyone connected?", "Nobody.", "then yes"): "reboot db2",
    ("one host runs the old kernel", "Which host shall I reboot?", "web3"): "reboot",
    ("search is slow", "a) restarting the index b) more memory.", "a, but at night"): "restart the index",
    ("it is down", "I can roll back, or restart the workers.", "the former, quick"): "roll back",
    ("what expires?", "Options: 1) renew all 2) renew the shop 3) wait.", "just the shop"): "renew the shop",
    ("the forum is unused", "Shall I drop it or keep it?", "drop it"): "drop it",
    ("the banner is old", "I'd put the red one up.", "nah the blue one"): "put the red one up",
}
REQUESTS = {
    ("reboot web1", "Done.", "and web2 too"): "reboot web1",
    ("reboot web1", "Done.", "did it work?", "Yes.", "ok, same for web2"): "reboot web1",
    ("reboot web1", "Done.", "the cable was loose, I fixed that", "Good.", "once more"): "reboot web1",
    ("reboot web1", "Rebooted.", "prod I meant"): "reboot web1",
    ("reboot web1", "Rebooted.", "web2, not web1"): "reboot web1",
    ("delete a backup", "Which one, May or June?", "June"): "delete a backup",
    ("delete a backup", "Are you sure?", "yes"): "delete a backup",
    ("move my call", "I moved the call with Bo.", "no, the other one"): "move my call",
    ("list the tickets", "48 tickets.", "only mine"): "list the tickets",
    ("toon de omzet van maart", "48.210 euro.", "doe april ook even"): "toon de omzet van maart",
}


def test_a_short_message_means_the_offer_it_takes_up_or_the_request_it_repeats() -> None:
    assert {said: meant(turns(*said)) for said in REQUESTS} == {
        said: Meaning(text, False) for said, text in REQUESTS.items()
    }
    assert {said: (meant(turns(*said)).text, meant(turns(*said)).order) for said in OFFERS} == {
        said: (text, True) for said, text in OFFERS.items()
    }


DELETE = ("clean up", "Shall I delete the old images?")
COUNT = ("how many tickets?", "There are 48.")
PAPER = ("order paper", "Ordered, it comes on Friday.")
LABELS: dict[tuple[tuple[str, str], str], tuple[str, ...]] = {
    (DELETE, "other"): (
        "no", "nah leave it for now", "let me think about it", "Tom already did that", "none of them", "stop",
        "lieber nicht", "mejor no", "laisse tomber", "meglio di no", "agora não", "laat maar", "нет, не надо", "算了",
        "結構です",
    ),
    (DELETE, "question"): ("why?", "hmm, how big are they", "which ones would that be?", "¿por qué?", "wie viele"),
    (COUNT, "other"): ("yes", "sure", "ok thanks", "👍", "perfect", "that's more than I thought"),
    (COUNT, "question"): ("same for web2",),
    (PAPER, "question"): (
        "20%?? of what", "newer how", "more important, is it on the invoice", "for me earlier is not possible?",
    ),
    (PAPER, "other"): (
        "good to know", "just as it should be", "yeah they were late all week", "i don't have it either. forget it",
    ),
}  # fmt: skip


def test_a_refusal_asks_for_nothing_and_a_question_accepts_nothing() -> None:
    wrong = []
    for (before, label), texts in LABELS.items():
        for text in texts:
            judged = meant(turns(*before, text))
            refused = (before, label) == (DELETE, "other")
            if judged.label != label or judged.order or (refused and judged.confirm is not False):
                wrong.append(f"{text}: {judged}")
    assert not wrong, "\n".join(wrong)


def test_another_shape_of_a_text_changes_nothing_else() -> None:
    for message in ("a bit friendlier", "now in French", "as a table", "shorter, and less formal", "mention the price"):
        judged = meant(turns("draft a reply to the landlord", "Dear Mr Weiss …", message))
        assert (judged.order, judged.confirm) == (True, False), message


CHANGES = {
    "send": ("send the report to Kim", "Sent.", "shorter please"),
    "set": ("explain why it is slow", "Too few workers.", "set workers to 8"),
    "add": ("draft a mail to Kim", "Dear Kim …", "add Bob to the recipients"),
    "restart": ("Shall I list the jobs?", "yes, and while you are at it restart the queue"),
    "delete": ("show one of the reports", "May or June?", "May, and delete the others"),
    "deploy": ("deploy 4.2", "The dry run is planned for 8.", "right after the dry run"),
}
SURE_CHANGES = (
    ("do a dry run of the cleanup", "312 files would go.", "now for real"),
    ("is it up?", "No. The usual fix is a restart.", "then do that"),
    ("rename it", "Done.", "the old name was better, change it back"),
)


def test_a_change_is_never_taken_for_a_matter_of_words_and_in_earnest_or_taken_back_it_needs_a_yes() -> None:
    for verb, said in CHANGES.items():
        judged = meant(turns(*said))
        assert (judged.confirm is not False, verb in judged.text) == (True, True), said
    assert meant(turns("show the copy", "Here it is.", "great, now drop it")).text.endswith("drop it")
    for said in SURE_CHANGES:
        assert meant(turns(*said)).confirm is True, said


def test_a_message_that_can_stand_alone_stands_alone_unless_it_answers() -> None:
    question = "what is the capital of France and how many people live there, roughly speaking?"
    order = "list the jobs of every user on the other three machines, sorted by their age"
    for said in (("hello",), ("reboot web1", "Done.", question), ("reboot web1", "Done.", order)):
        assert meant(turns(*said)).text.casefold().startswith(said[-1].casefold()[:40])
    answer = "yes, please do that, because the disk is nearly full and nobody needs the old images"
    alone = {text: stands_alone(turns(DELETE[1], text)) for text in ("June", answer, order)}
    assert alone == {"June": False, answer: False, order: True}


def test_a_long_thread_is_understood() -> None:
    thread = ["reboot web1", "Done. Shall I reboot web2?", "and web3 too", "Done."] * 25
    assert meant(turns(*thread, "again")).text == "reboot web1"
