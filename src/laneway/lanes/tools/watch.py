"""Tells people and the store about a model call: its begin, its words as they come, its end."""

from __future__ import annotations

import time
from typing import Any
from uuid import UUID

from pydantic_ai.messages import ModelResponse

from laneway.engine.deltas import DeltaSender
from laneway.store import events
from laneway.store.database import Database


class Watch:
    """Watches the model calls of one job."""

    def __init__(self, db: Database, thread_id: UUID, job_id: UUID) -> None:
        self._db, self._thread_id, self._job_id = db, thread_id, job_id
        self._sender = DeltaSender(db, thread_id, job_id)
        self._began = 0.0

    async def began(self, model: str) -> None:
        self._sender = DeltaSender(self._db, self._thread_id, self._job_id)
        self._began = time.perf_counter()
        await self._emit("model.started", {"model": model})

    async def wrote(self, text: str) -> None:
        await self._sender.put(text)

    async def ended(self, response: ModelResponse) -> None:
        await self._sender.flush()
        body: dict[str, Any] = {
            "model": response.model_name,
            "tokens_input": response.usage.input_tokens,
            "tokens_output": response.usage.output_tokens,
            "tool_calls": [call.tool_name for call in response.tool_calls],
            "milliseconds": round((time.perf_counter() - self._began) * 1000, 1),
        }
        await self._emit("model.finished", body)

    async def _emit(self, kind: str, body: dict[str, Any]) -> None:
        async with self._db.transaction() as tx:
            await events.append(tx, kind, body, thread_id=self._thread_id, job_id=self._job_id)
