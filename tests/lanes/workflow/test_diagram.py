"""The diagram draws what is there, marks what changes, and nothing in a document can draw for itself."""

from __future__ import annotations

import re

from laneway.lanes.workflow.diagram import mermaid, text
from laneway.lanes.workflow.node_paths import compiled
from laneway.lanes.workflow.patching import applied
from tests.lanes.workflow.documents import PRICES, add, edge, line, node, of


def test_a_workflow_is_a_flowchart() -> None:
    drawn = mermaid(PRICES)
    assert drawn.startswith("flowchart TD\n")
    assert '    n0["fetch (http)"]' in drawn
    assert '    n1{"check (conditional)"}' in drawn
    assert '    n1 -->|"#36;.price #60; 100"| n2' in drawn
    assert '    n1 -->|"else"| n3' in drawn
    assert "class" not in drawn


def test_what_changes_is_marked_by_a_class() -> None:
    operations = [
        add("/nodes/-", node("mail", "notify")),
        add("/edges/-", edge("done", "mail")),
        {"op": "remove", "path": "/nodes/@cheap"},
        {"op": "remove", "path": "/edges/@check->cheap"},
        {"op": "remove", "path": "/edges/@cheap->done"},
        {"op": "replace", "path": "/nodes/@fetch/timeout_ms", "value": 1},
    ]
    drawn = mermaid(applied(PRICES, compiled(PRICES, operations)), PRICES)
    assert "    class n0 changed" in drawn
    assert "    class n3 added" in drawn
    assert "    class n4 removed" in drawn
    assert '    n1 -.-|"removed"| n4' in drawn


def test_hostile_words_stay_words() -> None:
    evil = '"] --> x\nclick n0 href "javascript:alert(1)"\n%%{init: {}}%% <img src=x onerror=alert(1)> `| ; end #quot;'
    document = of([node("a"), node("b")], [edge("a", "b", f"$.x == '{evil[:50]}'"), edge("a", "b", evil)])
    drawn = mermaid(document)
    lines = drawn.splitlines()
    assert len(lines) == 5
    for line_ in lines[3:]:
        label = re.fullmatch(r'    n0 -->\|"([^"]*)"\| n1', line_)
        assert label, line_
        assert not set(re.sub(r"#[0-9]+;", "", label[1])) & set('<>"`|[]{};#&$')


def test_the_picture_of_a_loop_shows_the_way_back() -> None:
    loop = node("again", "loop", loop_back_to="a", max_iterations=3)
    document = of([node("a"), loop, node("end")], line("a", "again", "end"))
    assert '    n1 -.->|"again, at most 3 times"| n0' in mermaid(document)
    assert "    again, at most 3 times → a" in text(document)


def test_lines_of_text_for_chat() -> None:
    after = applied(
        PRICES, [add("/nodes/-", node("mail", "notify")), add("/edges/-", edge("done", "mail", on="error"))]
    )
    assert text(after, PRICES) == "\n".join(
        [
            "fetch (http)",
            "    → check",
            "check (conditional)",
            "    $.price < 100 → cheap",
            "    else → done",
            "cheap (notify)",
            "    → done",
            "done (function)",
            "    if it fails → mail",
            "+ mail (notify)",
        ]
    )


def test_another_condition_is_marked_at_its_edge_only() -> None:
    operations = [{"op": "replace", "path": "/edges/@check->cheap/condition", "value": "$.price < 50"}]
    after = applied(PRICES, compiled(PRICES, operations))
    drawn = mermaid(after, PRICES)
    assert '    n1 -->|"changed: #36;.price #60; 50"| n2' in drawn
    assert drawn.count("changed") == 1
    assert "    ~ $.price < 50 → cheap" in text(after, PRICES)
    assert "~" not in text(after, after)
