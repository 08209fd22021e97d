"""The least that a webhook can be: FastAPI takes the body and commits one row. Run by `bench/webhook.py`."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn
from fastapi import FastAPI, Request
from psycopg.types.json import Jsonb
from psycopg_pool import AsyncConnectionPool


def bare(database_url: str) -> FastAPI:
    """An app with one route that stores what it is given."""
    pool = AsyncConnectionPool(database_url, min_size=2, max_size=12, open=False)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await pool.open(wait=True)
        async with pool.connection() as connection:
            await connection.execute("CREATE TABLE IF NOT EXISTS bare (id bigserial PRIMARY KEY, body jsonb)")
        yield
        await pool.close()

    app = FastAPI(lifespan=lifespan)

    @app.post("/webhook")
    async def webhook(request: Request) -> dict[str, bool]:
        async with pool.connection() as connection:
            await connection.execute("INSERT INTO bare (body) VALUES (%s)", (Jsonb(await request.json()),))
        return {"ok": True}

    return app


if __name__ == "__main__":
    uvicorn.run(bare(sys.argv[1]), port=int(sys.argv[2]), log_level="warning")
