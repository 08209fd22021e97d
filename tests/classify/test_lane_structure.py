"""What the structure of a request says about lasting changes and deeds of the moment."""

from __future__ import annotations

import pytest

from laneway.classify import lane_structure, vectors
from laneway.errors import SettingsError

LASTING = [
    "every Thursday send the plan to the caretaker",
    "from now on ask Ines before anything is paid",
    "stop mailing the suppliers on weekends",
    "could you please raise the timeout of the upload step to 40 seconds?",
    "if a sensor reports frost, turn the heating on",
    "for the next three weeks send me the figures twice a day",
    "undo my last change to the discount rule",
    "duplicate the intake workflow",
    "the reminder should go out at nine instead of eight",
    "run it now, and from tomorrow run it daily",
    "jeden Montag schick mir die Zahlen",
    "désormais envoie le rapport à Paul",
    "timeout 30s → 45s",
    "whoever books online gets the parking info two hours ahead",
    "while the bridge is closed, add 20 minutes to each route estimate",
    "I'd like every delivery note to be archived in the green folder",
    "the alarm is too nervous, make it wait five minutes before it fires",
    "die Erinnerung soll zwei Tage früher rausgehen",
    "quando chegar um currículo, encaminha para o RH",
    "als de voorraad onder de tien zakt, bestel bij",
    "kargo gecikirse müşteriye mesaj at",
    "убери второй шаг из процесса возвратов",
]
MOMENTARY = [
    "sort every row by weight",
    "which orders failed every day last month?",
    "run the import once, don't save anything",
    "tomorrow at 5 send the plan to the caretaker",
    "when this run finishes, tell me how long it took",
    "is there a rule for late parcels?",
    "start the intake workflow",
    "replay the failed batch",
    "the alarm always rings twice. why is that?",
    "what would happen if we removed the wait step?",
    "send the daily report to Ines, just this once",
    "ejecuta el flujo una sola vez",
    "move the trigger column to the left",
    "if Mrs Haddad has replied, file her answer",
    "whenever a driver was late in April, put his name in a list",
    "write a short note to the team that the report will come at 7 from Monday on",
    "explain what happens whenever a payment bounces",
    "the weekly figures for each branch since January, one line per branch",
    "I wonder if we should drop the fax step",
    "undo the last sort",
    "schick das Angebot heute noch an Frau Weber",
    "geçen ay her gün kaç sipariş geldi?",
    "昨日の失敗を見せて",
]


def value(text: str, name: str) -> float:
    return dict(zip(lane_structure.names(), lane_structure.features(text), strict=True))[name]


MOODS = {
    "delete the step": ["order"],
    "would you delete the step": ["polite order"],
    "who deleted the step?": ["question"],
    "the step is slow": ["statement"],
    "orders per region": ["fragment"],
    "can the summary skip cancelled orders from now on?": ["polite order"],
    "show me the rule and lower its limit to 7": ["order", "order"],
}
SIGNS = {
    # A time word in a name is no schedule, and what a relative clause says does not govern the order.
    ("start the weekly cleanup", "repeats"): 0,
    ("start a cleanup weekly", "repeats"): 1,
    ("list the guests who always come on Mondays", "repeats"): 0,
    ("always list the guests on Mondays", "repeats"): 1,
    # The last of several nouns says what is edited, even after a slip of the pen.
    ("rename the approval column", "edits a part"): 0,
    ("rename the column step", "edits a part"): 1,
    ("change the tresholds of the freezer", "edits a part"): 1,
}


def test_what_stays_is_seen_as_lasting_and_what_is_done_once_or_only_asked_is_not() -> None:
    wrong = [text for text in LASTING if value(text, "rules say lasting") != 1]
    wrong += [text for text in MOMENTARY if value(text, "rules say lasting") != 0]
    assert not wrong, "\n".join(wrong)


def test_each_clause_has_a_mood_and_its_words_have_their_part_in_it() -> None:
    assert {text: [clause.mood for clause in lane_structure.clauses(text)] for text in MOODS} == MOODS
    assert {case: value(*case) for case in SIGNS} == SIGNS


def test_a_structure_nobody_knows_is_refused_by_name() -> None:
    with pytest.raises(SettingsError, match="weather"):
        vectors.rows(["stop the run"], [], "weather")
