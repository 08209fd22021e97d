"""CostOptimizer: cheaper ways, each pointed out once."""

from __future__ import annotations

from laneway.domain.session import EventKind, Tokens
from laneway.reactors import Said
from laneway.reactors.cost_optimizer import CostOptimizer
from tests.reactors.watched import Watched, warnings

BIG = "x" * 2000


def test_a_large_file_that_is_read_whole_again_is_pointed_out_once() -> None:
    session = Watched(CostOptimizer())
    # `cat` counts as reading it whole.
    assert session.done("Bash", {"command": "cat big.py"}, BIG) == []
    assert warnings(session.done("Read", {"file_path": "big.py"}, BIG)) == [
        "big.py is large and is read whole again: a search (grep) or a part would do."
    ]
    assert session.done("Read", {"file_path": "big.py"}, BIG) == []


def test_reading_a_part_a_small_file_or_one_that_was_changed_is_fine() -> None:
    session = Watched(CostOptimizer())
    for _ in range(2):
        assert session.done("Read", {"file_path": "big.py", "offset": 1, "limit": 50}, BIG) == []
        assert session.done("Read", {"file_path": "small.py"}, "x") == []
        assert session.done("Read", {"file_path": "edited.py"}, BIG) == []
        assert session.done("Edit", {"file_path": "edited.py"}) == []


def test_cat_before_a_search_is_a_step_too_many() -> None:
    session = Watched(CostOptimizer())
    assert warnings(session.done("Bash", {"command": "cat app.log | grep ERROR"})) == [
        "`grep` can read app.log itself; `cat` before it is a step more."
    ]
    assert session.done("Bash", {"command": "cat a b > c"}) == []
    assert session.done("Bash", {"command": "grep ERROR app.log"}) == []


def turns(session: Watched, count: int, output: int, calls: int = 0) -> list[Said]:
    said: list[Said] = []
    for _ in range(count):
        session.tell(EventKind.USER, text="?")
        for _ in range(calls):
            said += session.done("Read", {"file_path": "a"})
        session.spend(Tokens(output=output))
        said += session.turn_over()
    return said


def test_a_big_model_for_five_small_turns_is_pointed_out_and_nothing_else() -> None:
    session = Watched(CostOptimizer(), model="claude-opus-4-5")
    assert turns(session, 4, 100) == []
    assert warnings(turns(session, 1, 100)) == [
        "The last 5 turns were small: a smaller model than claude-opus-4-5 would do."
    ]
    assert turns(session, 20, 100) == []
    for model in ("claude-haiku-4-5", "gpt-5-mini"):
        assert turns(Watched(CostOptimizer(), model=model), 20, 100) == []
    # Real work.
    assert turns(Watched(CostOptimizer(), model="claude-opus-4-5"), 20, 3000) == []
    assert turns(Watched(CostOptimizer(), model="claude-opus-4-5"), 20, 100, calls=2) == []
