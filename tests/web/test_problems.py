"""What nobody foresaw is logged, and told without its innards."""

from __future__ import annotations

import psycopg
import pytest

from tests.web.conftest import Door


async def test_an_unexpected_error_shows_no_innards_and_is_logged(
    door: Door, database_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    with psycopg.connect(database_url) as connection:
        connection.execute("ALTER TABLE outbox RENAME TO elsewhere")
    problem = await door.get("/outbox", 500)
    assert problem["code"] == "internal"
    assert problem["title"] == "Internal Server Error"
    assert "outbox" not in problem["detail"]
    assert "psycopg" not in str(problem)
    (record,) = [record for record in caplog.records if record.name == "laneway.web"]
    reference = problem["hint"].rpartition(" ")[2].rstrip(".")
    assert reference in record.getMessage()
    assert record.exc_info is not None
    assert door.key not in caplog.text


async def test_a_refused_request_does_not_quote_what_cannot_be_written(door: Door) -> None:
    response = await door.http.post(
        "/messages", content=b'{"text": "x", "lane": "\\ud800"}', headers={"content-type": "application/json"}
    )
    assert response.status_code == 400
    assert response.json()["code"] == "bad-input"
