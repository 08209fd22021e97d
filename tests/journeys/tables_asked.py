"""What the tests of pipelines share: a table, requests about it, and the door they go through."""

from __future__ import annotations

from typing import Any

from laneway.app import Parts
from laneway.llm.offline import OfflineModel
from laneway.llm.single import only
from tests.web.conftest import Door

FLIGHTS = [
    {"airline": "Ida", "price": 120, "city": "Oslo"},
    {"airline": "Bee", "price": 80, "city": "Rome"},
    {"airline": "Cee", "price": 95, "city": "Oslo"},
    {"airline": "Dee", "price": 300, "city": "Rome"},
]
CHEAPEST = "show the 2 cheapest flights"
ODD = "which of them would a penny-pincher take, the lowest two?"
PLAN = {"steps": [{"do": "top_k", "k": 2, "by": "price", "order": "asc"}]}


def offline() -> Parts:
    return Parts(models=lambda db: only(OfflineModel(), db))


async def chat(door: Door, prompt: str, expected: int = 200, **more: Any) -> Any:
    return await door.post("/test/chat", expected, json={"prompt": prompt, **more}, timeout=90)


async def result(door: Door, shape: dict[str, Any]) -> Any:
    """The stored rows that a result points at."""
    response = await door.http.get(f"/artifacts/{shape['result_ref'].rpartition('/')[2]}")
    assert response.status_code == 200
    return response.json()
