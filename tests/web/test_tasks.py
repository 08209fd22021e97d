"""Tasks over HTTP: made by hand, moved only where they may go, with the columns of the secretary's document."""

from __future__ import annotations

from typing import Any

from tests.web.conftest import Door

COLUMNS = {
    "id", "task_type", "status", "priority", "chat_id", "message_id", "assigned_agent", "input_data", "output_data",
    "metadata", "parent_task_id", "created_at", "started_at", "completed_at", "retry_count", "max_retries",
}  # fmt: skip


async def create(door: Door, expected: int = 201, **more: Any) -> Any:
    return await door.post("/api/tasks", expected, json={"title": "call the plumber", **more})


async def patch(door: Door, task: Any, expected: int = 200, **changes: Any) -> Any:
    return await door.patch(f"/api/tasks/{task['id']}", expected, json=changes)


async def test_a_task_has_every_column_of_the_seed(door: Door) -> None:
    made = await create(door, priority=1, assigned_agent="Ann", input_data={"a": 1})
    assert set(made) >= COLUMNS
    assert (made["task_type"], made["status"], made["priority"], made["retry_count"]) == ("manual", "pending", 1, 0)
    assert await door.get(f"/api/tasks/{made['id']}") == made
    columns = door.rows("SELECT column_name FROM information_schema.columns WHERE table_name = 'tasks'")
    assert {name for (name,) in columns} >= COLUMNS


async def test_a_task_goes_from_pending_over_in_progress_to_its_end(door: Door) -> None:
    made = await create(door)
    begun = await patch(door, made, status="in_progress")
    assert begun["started_at"] is not None
    ended = await patch(door, made, status="completed", output_data={"note": "he came"})
    assert (ended["status"], ended["output_data"]) == ("completed", {"note": "he came"})
    assert ended["completed_at"] is not None


async def test_illegal_moves_are_refused_name_the_legal_ones_and_change_nothing(door: Door) -> None:
    cases: list[tuple[list[str], str]] = [
        ([], "completed"), ([], "failed"), ([], "pending"), (["cancelled"], "in_progress"),
        (["in_progress"], "pending"), (["in_progress", "completed"], "failed"),
        (["in_progress", "failed"], "completed"),
    ]  # fmt: skip
    for way, illegal in cases:
        made = await create(door)
        for status in way:
            await patch(door, made, status=status)
        problem = await patch(door, made, 409, status=illegal, title="something else")
        assert (problem["code"], bool(problem["hint"])) == ("illegal-transition", True)
        left = await door.get(f"/api/tasks/{made['id']}")
        assert (left["status"], left["title"]) == ((way or ["pending"])[-1], "call the plumber")


async def test_a_failed_task_is_tried_again_only_so_often(door: Door) -> None:
    made = await create(door, max_retries=1)
    for status in ("in_progress", "failed", "pending", "in_progress", "failed"):
        made = await patch(door, made, status=status)
    assert made["retry_count"] == 1
    assert "last try" in (await patch(door, made, 409, status="pending"))["detail"]


async def test_tasks_are_listed_by_status_and_page_by_page(own_door: Door) -> None:
    door = own_door
    made = [await create(door, title=f"task {n}") for n in range(3)]
    await patch(door, made[0], status="cancelled")
    assert [one["id"] for one in (await door.get("/api/tasks", open="true"))["items"]] == [made[2]["id"], made[1]["id"]]
    assert [one["id"] for one in (await door.get("/api/tasks", status="cancelled"))["items"]] == [made[0]["id"]]
    first = await door.get("/api/tasks", limit=2)
    assert (await door.get("/api/tasks", limit=2, before=first["next"]))["items"][0]["id"] == made[0]["id"]


async def test_wrong_tasks_are_refused_and_nothing_is_kept(door: Door) -> None:
    before = await door.get("/api/tasks")
    cases: list[dict[str, Any]] = [
        {"title": " "}, {"title": "x" * 201}, {"priority": 0}, {"priority": 11}, {"task_type": "magic"},
        {"title": "a\u0000b"}, {"due_at": "tomorrow"}, {"parent_task_id": 999}, {"colour": "red"},
    ]  # fmt: skip
    for wrong in cases:
        response = await door.http.post("/api/tasks", json={"title": "t", **wrong})
        assert 400 <= response.status_code < 500, wrong
    assert await door.get("/api/tasks") == before
    for number, status in (("999999", 404), ("99999999999999999999999", 400), ("one", 400)):
        await door.get(f"/api/tasks/{number}", status)
