"""What the structure of a request says about lasting changes and deeds of the moment."""

from __future__ import annotations

import time

import pytest

from laneway.classify import lane_structure, vectors
from laneway.errors import SettingsError

LASTING = [
    "every Thursday send the plan to the caretaker",
    "whenever a booking is moved, text the guest",
    "from now on ask Ines before anything is paid",
    "stop mailing the suppliers on weekends",
    "could you please raise the timeout of the upload step to 40 seconds?",
    "if a sensor reports frost, turn the heating on",
    "delete the second step of the returns flow",
    "for the next three weeks send me the figures twice a day",
    "undo my last change to the discount rule",
    "pause the newsletter workflow",
    "duplicate the intake workflow",
    "the reminder should go out at nine instead of eight",
    "run it now, and from tomorrow run it daily",
    "send the letter today and add Ines to the recipients",
    "timeout: 30",
    "jeden Montag schick mir die Zahlen",
    "cada vez que llegue un pedido, avísame",
    "désormais envoie le rapport à Paul",
    "timeout 30s → 45s",
    "the report at 7, not 8",
    "whoever books online gets the parking info two hours ahead",
    "jede neue Anmeldung zuerst an Frau Weber weiterleiten",
    "while the bridge is closed, add 20 minutes to each route estimate",
    "I'd like every delivery note to be archived in the green folder",
    "stop the cleaning robot from starting on holidays",
    "the alarm is too nervous, make it wait five minutes before it fires",
    "die Erinnerung soll zwei Tage früher rausgehen",
    "el informe tiene que salir a las seis y no a las ocho",
    "quando chegar um currículo, encaminha para o RH",
    "als de voorraad onder de tien zakt, bestel bij",
    "kargo gecikirse müşteriye mesaj at",
    "убери второй шаг из процесса возвратов",
]
MOMENTARY = [
    "sort every row by weight",
    "give me each customer's total",
    "which orders failed every day last month?",
    "run the import once, don't save anything",
    "preview the flow with a limit of 9",
    "tomorrow at 5 send the plan to the caretaker",
    "when this run finishes, tell me how long it took",
    "what does the discount rule do?",
    "is there a rule for late parcels?",
    "start the intake workflow",
    "cancel run 512",
    "replay the failed batch",
    "approve the request of Ines",
    "remove the third column of this table",
    "the alarm always rings twice. why is that?",
    "what would happen if we removed the wait step?",
    "send the daily report to Ines, just this once",
    "zeig mir alle Kunden, die nie bestellt haben",
    "ejecuta el flujo una sola vez",
    "combien de lignes a chaque fichier ?",
    "move the trigger column to the left",
    "if Mrs Haddad has replied, file her answer",
    "if the run from this morning is still hanging, kill it",
    "whenever a driver was late in April, put his name in a list",
    "write a short note to the team that the report will come at 7 from Monday on",
    "explain what happens whenever a payment bounces",
    "the weekly figures for each branch since January, one line per branch",
    "leave the schedule alone, I only want the numbers",
    "I wonder if we should drop the fax step",
    "undo the last sort",
    "schick das Angebot heute noch an Frau Weber",
    "stuur deze factuur nog één keer",
    "geçen ay her gün kaç sipariş geldi?",
    "昨日の失敗を見せて",
]


def value(text: str, name: str) -> float:
    return dict(zip(lane_structure.names(), lane_structure.features(text), strict=True))[name]


@pytest.mark.parametrize("text", LASTING)
def test_what_stays_is_seen_as_lasting(text: str) -> None:
    assert value(text, "rules say lasting") == 1


@pytest.mark.parametrize("text", MOMENTARY)
def test_what_is_done_once_or_only_asked_is_not_seen_as_lasting(text: str) -> None:
    assert value(text, "rules say lasting") == 0


@pytest.mark.parametrize(
    ("text", "mood"),
    [
        ("delete the step", "order"),
        ("would you delete the step", "polite order"),
        ("who deleted the step?", "question"),
        ("the step is slow", "statement"),
        ("orders per region", "fragment"),
        ("can the summary skip cancelled orders from now on?", "polite order"),
    ],
)
def test_a_clause_has_a_mood(text: str, mood: str) -> None:
    assert [clause.mood for clause in lane_structure.clauses(text)] == [mood]


def test_an_order_after_and_is_a_clause_of_its_own() -> None:
    assert len(lane_structure.clauses("show me the rule and lower its limit to 7")) == 2


def test_a_time_word_in_a_name_is_no_schedule() -> None:
    assert value("start the weekly cleanup", "repeats") == 0
    assert value("start a cleanup weekly", "repeats") == 1


def test_what_a_relative_clause_says_does_not_govern_the_order() -> None:
    assert value("list the guests who always come on Mondays", "repeats") == 0
    assert value("always list the guests on Mondays", "repeats") == 1


def test_the_last_of_several_nouns_says_what_is_edited() -> None:
    assert value("rename the approval column", "edits a part") == 0
    assert value("rename the column step", "edits a part") == 1


def test_a_slip_of_the_pen_does_not_hide_a_word() -> None:
    assert value("change the tresholds of the freezer", "edits a part") == 1


def test_every_number_has_a_name_and_lies_between_0_and_1() -> None:
    for text in [*LASTING, *MOMENTARY, "", "?", "…", "42", "👍", "以后每天发送报表"]:
        numbers = lane_structure.features(text)
        assert len(numbers) == len(lane_structure.names()) == len(set(lane_structure.names()))
        assert all(0 <= number <= 1 for number in numbers)


@pytest.mark.alone
def test_the_structure_of_a_request_is_found_within_a_millisecond() -> None:
    texts = [*LASTING, *MOMENTARY]
    lane_structure.features(texts[0])
    best = min(_seconds(texts) for _ in range(5))
    assert best / len(texts) < 0.001


def _seconds(texts: list[str]) -> float:
    # What it costs, not how long it takes while others are at work.
    began = time.process_time()
    for text in texts:
        lane_structure.features(text)
    return time.process_time() - began


def test_rows_carry_the_structure_only_where_it_is_named() -> None:
    plain, special = vectors.rows(["stop the run"], []), vectors.rows(["stop the run"], [], "lane")
    signs = len(lane_structure.names())
    assert special.width - plain.width == signs + signs * (signs - 1) // 2, "the signs and their pairs"


def test_a_structure_nobody_knows_is_refused_by_name() -> None:
    with pytest.raises(SettingsError, match="weather"):
        vectors.rows(["stop the run"], [], "weather")
