"""What a person sees before saying yes."""

from __future__ import annotations

import asyncio
from copy import deepcopy
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from laneway.domain.workflow import Workflow
from laneway.domain.workflow_run import RUN_ENDED
from laneway.lanes.workflow.patches import Patches
from laneway.lanes.workflow.preview import preview
from laneway.lanes.workflow.starting import Order
from laneway.llm.offline import OfflineModel
from laneway.store import workflow_runs
from tests.lanes.workflow.stored_documents import CHOICE, SHOP
from tests.lanes.workflow.test_lane import asked, keep
from tests.lanes.workflow.test_replaying import TEN
from tests.running import Laneway, laneway

NOW = datetime(2026, 1, 1, tzinfo=UTC)
CHEAPER = [{"op": "replace", "path": "/edges/@check->buy/condition", "value": "output.price < 80"}]


def stored(document: dict[str, Any]) -> Workflow:
    return Workflow(UUID(int=1), 1, UUID(int=2), "shop", 4, deepcopy(document), NOW, NOW)


def test_a_preview_says_what_changes_and_lists_the_three_runs_of_ten() -> None:
    found = preview(Patches().propose(stored(CHOICE), "shop", CHEAPER, "Only below 80 is bought."), TEN)
    text = found.text(valid_until=NOW)
    assert "May I change workflow `shop`, version 4?" in text
    assert "Only below 80 is bought." in text
    assert "output.price < 80" in text
    assert "Of the last 10 runs, 3 would have ended differently." in text
    assert [line.split(":")[0] for line in text.splitlines() if line.startswith("- run")] == [
        "- run r2",
        "- run r3",
        "- run r4",
    ]
    assert "It is undone by itself on 2026-01-01 at 00:00 UTC." in text
    assert "```mermaid\nflowchart TD" in text


def test_what_cannot_be_told_is_said_to_be_so() -> None:
    ask: list[dict[str, Any]] = [
        {"op": "add", "path": "/nodes/-", "value": {"id": "may_i", "type": "hitl", "config": {"message": "May I?"}}},
        {"op": "replace", "path": "/edges/@check->buy/to", "value": "may_i"},
        {
            "op": "add",
            "path": "/edges/-",
            "value": {"from": "may_i", "to": "buy", "condition": 'output.decision == "approved"'},
        },
    ]
    text = preview(Patches().propose(stored(CHOICE), "shop", ask, "You are asked."), TEN).text()
    assert "Of 5 it cannot be told from here: it depends on `may_i`." in text


async def test_ten_real_runs_and_a_patch_that_flips_three_of_them(database_url: str, tmp_path: Path) -> None:
    """The question names exactly the three runs of ten that would have ended elsewhere, before anything is stored."""
    async with laneway(database_url, tmp_path, OfflineModel()) as here:
        workflow = await keep(here, "shop", SHOP)
        runs = [await ran(here, workflow, price) for price in (50, 79, 80, 85, 99, 100, 101, 150, 200, 500)]
        change = {"patch": {"workflow_tag": "shop", "operations": CHEAPER, "description": "Only below 80 is bought."}}
        receipt = await here.send("only below 80", lane="workflow", payload=change)
        await asked(here, receipt.job_id)
        text = (await here.replies(receipt.message_id))[-1].text
    assert "Of the last 10 runs, 3 would have ended differently." in text
    named = [line.split()[2].rstrip(":") for line in text.splitlines() if line.startswith("- run")]
    assert sorted(named) == sorted(str(runs[number]) for number in (2, 3, 4))


async def ran(here: Laneway, workflow: Workflow, price: int) -> UUID:
    """A run of the workflow that has ended."""
    async with here.app.db.transaction() as tx:
        run_id, _ = await here.app.runs.start(tx, workflow, here.owner, Order({"price": price}))
    async with asyncio.timeout(30):
        while True:
            async with here.app.db.transaction() as tx:
                run = await workflow_runs.get(tx, run_id)
            if run.status in RUN_ENDED:
                assert run.status == "done"
                return run_id
            await asyncio.sleep(0.05)
