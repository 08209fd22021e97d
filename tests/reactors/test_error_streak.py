"""ErrorStreak: the fifth error in a row is told, once for each row."""

from __future__ import annotations

from laneway.domain.session import EventKind
from laneway.reactors import Said
from laneway.reactors.shipped import shipped
from tests.reactors.watched import Watched, notices


def failing(session: Watched, times: int) -> list[Said]:
    said: list[Said] = []
    for number in range(times):
        said += session.done("Bash", {"command": f"make {number}"}, f"no rule {number}", failed=True)
    return said


def test_by_default_the_fifth_consecutive_error_is_told_once() -> None:
    session = Watched(*shipped())
    assert notices(failing(session, 4)) == []
    session.tell(EventKind.ASSISTANT, text="trying again")
    assert notices(failing(session, 1)) == ["5 errors in a row; the last: no rule 0"]
    session.tell(EventKind.TOKENS)
    assert notices(failing(session, 10)) == []


def test_a_success_between_begins_a_new_row() -> None:
    session = Watched(*shipped())
    failing(session, 4)
    session.done("Bash", {"command": "true"})
    assert notices(failing(session, 4)) == []
    assert len(notices(failing(session, 1))) == 1


def test_errors_of_the_model_count_too() -> None:
    session = Watched(*shipped())
    said = [one for _ in range(5) for one in session.tell(EventKind.ERROR, text="overloaded")]
    assert notices(said) == ["5 errors in a row; the last: overloaded"]
