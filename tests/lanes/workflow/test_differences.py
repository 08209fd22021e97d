"""A change is told in words a person can approve, and drawn; nothing in a document can draw for itself."""

from __future__ import annotations

import re
from typing import Any

from laneway.lanes.workflow.diagram import mermaid, text
from laneway.lanes.workflow.differences import differences, told
from laneway.lanes.workflow.document import Document
from laneway.lanes.workflow.node_paths import compiled
from laneway.lanes.workflow.patching import applied
from tests.lanes.workflow.documents import PRICES, add, edge, flow, node, of, put


def _after(*operations: dict[str, Any]) -> Document:
    found: Document = applied(PRICES, compiled(PRICES, list(operations)))
    return found


def _remove(path: str) -> dict[str, Any]:
    return {"op": "remove", "path": path}


CRON = {"type": "cron", "schedule": "0 9 * * *", "timezone": "Europe/Berlin"}
WORDS: list[tuple[str, list[dict[str, Any]]]] = [
    ("Changes nothing.", []),
    (
        "Adds the step mail (notify) after check when $.price < 50.",
        [add("/nodes/-", node("mail", "notify")), add("/edges/-", edge("check", "mail", "$.price < 50"))],
    ),
    ("Adds the step side (function) at the beginning.", [add("/nodes/-", node("side"))]),
    ("Changes the timeout of fetch from 5 s to 10 s.", [put("/nodes/@fetch/timeout_ms", 10_000)]),
    ("Removes the timeout of fetch.", [_remove("/nodes/@fetch/timeout_ms")]),
    ('Sets the retry of fetch to {"max_attempts": 5}.', [add("/nodes/@fetch/retry", {"max_attempts": 5})]),
    ("Sets the subject of cheap to Cheap!.", [add("/nodes/@cheap/config/subject", "Cheap!")]),
    ("Changes the type of done from function to wait.", [put("/nodes/@done/type", "wait")]),
    (
        "Changes the condition of check → cheap from $.price < 100 to $.price < 50.",
        [put("/edges/@check->cheap/condition", "$.price < 50")],
    ),
    ("Connects fetch to done if it fails.", [add("/edges/-", edge("fetch", "done", on="error"))]),
    ("Disconnects cheap from done.", [_remove("/edges/@cheap->done")]),
    (
        "Removes the step cheap (notify).",  # Its edges go with it in silence.
        [_remove("/nodes/@cheap"), _remove("/edges/@check->cheap"), _remove("/edges/@cheap->done")],
    ),
    (
        "Changes the order of the branches of check to done, cheap.",
        [{"op": "move", "from": "/edges/2", "path": "/edges/1"}],
    ),
    ("Starts it at 0 9 * * * (Europe/Berlin).", [add("/triggers", [CRON])]),
    ("Sets the name of the workflow to Prices.", [add("/metadata", {"name": "Prices"})]),
]


def test_a_change_in_words() -> None:
    wrong = [f"{words}: {found}" for words, how in WORDS if (found := told(PRICES, _after(*how))) != words]
    assert not wrong, "\n".join(wrong)


def test_a_new_name_for_the_same_step_is_a_new_name() -> None:
    before = flow("one old:wait", "one old", old={"seconds": 1})
    after = flow("one two:wait", "one two", two={"seconds": 1})
    assert [one.words for one in differences(before, after) if one.what == "node"] == ["renames the step old to two"]


def test_a_trigger_that_stays_is_not_told_and_true_and_one_differ() -> None:
    before, after = flow("a", triggers=[CRON]), flow("a", triggers=[{"type": "manual"}, CRON])
    assert told(before, after) == "Starts it by hand."
    assert told(after, before) == "No longer starts it by hand."
    assert told(flow("a", a={"x": 1}), flow("a", a={"x": True})) == "Changes the x of a from 1 to true."


def test_texts_of_others_stay_on_one_line_and_short() -> None:
    after = _after(add("/nodes/@cheap/config/subject", "line\n\x1b[31m\u202e two " + "x" * 500))
    words = told(PRICES, after)
    assert "\n" not in words
    assert all(sign.isprintable() for sign in words)
    assert len(words) < 200


def test_what_changes_is_marked_by_a_class() -> None:
    gone = ("nodes/@cheap", "edges/@check->cheap", "edges/@cheap->done")
    operations = [
        add("/nodes/-", node("mail", "notify")),
        add("/edges/-", edge("done", "mail")),
        *({"op": "remove", "path": f"/{path}"} for path in gone),
        put("/nodes/@fetch/timeout_ms", 1),
    ]
    drawn = mermaid(applied(PRICES, compiled(PRICES, operations)), PRICES)
    for line in ("class n0 changed", "class n3 added", "class n4 removed", 'n1 -.-|"removed"| n4'):
        assert f"    {line}" in drawn


def test_hostile_words_stay_words() -> None:
    evil = '"] --> x\nclick n0 href "javascript:alert(1)"\n%%{init: {}}%% <img src=x onerror=alert(1)> `| ; end #quot;'
    document = of([node("a"), node("b")], [edge("a", "b", f"$.x == '{evil[:50]}'"), edge("a", "b", evil)])
    drawn = mermaid(document)
    lines = drawn.splitlines()
    assert len(lines) == 5
    for line in lines[3:]:
        label = re.fullmatch(r'    n0 -->\|"([^"]*)"\| n1', line)
        assert label, line
        assert not set(re.sub(r"#[0-9]+;", "", label[1])) & set('<>"`|[]{};#&$')


CHAT = """fetch (http)
    → check
check (conditional)
    $.price < 100 → cheap
    else → done
cheap (notify)
    → done
done (function)
    if it fails → mail
+ mail (notify)"""


def test_lines_of_text_for_chat() -> None:
    more = [add("/nodes/-", node("mail", "notify")), add("/edges/-", edge("done", "mail", on="error"))]
    assert text(applied(PRICES, more), PRICES) == CHAT
