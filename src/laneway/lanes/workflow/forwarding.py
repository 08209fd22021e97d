"""Accepted patches go on to an orchestrator outside, in order, until it takes them or refuses them.

What is to be sent is a row in the transaction that stores the patch. A server that is away or breaks down is tried
again, later and later; a patch it refuses, and one of which nobody knows whether it arrived, are told to their owner.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import httpx

from laneway.clock import Clock
from laneway.domain.workflow import Forward, ForwardState, Patch, PatchKind, Workflow
from laneway.errors import BadInput, Forbidden, Unavailable
from laneway.lanes.workflow.telling import tell
from laneway.sandbox.exchange import Exchange, NotConnected, Question, Reply
from laneway.store import jobs, principals, workflow_patches, workflows
from laneway.store.database import Connection, Database

SECONDS = 20.0
MOST_ATTEMPTS = 20
LONGEST_PAUSE = 600.0
_AGAIN = frozenset({408, 425, 429})


@dataclass(frozen=True)
class _Outcome:
    state: ForwardState
    said: str | None = None


class Forwarding:
    """Sends patches to the orchestrator at `url`, and to nowhere else."""

    def __init__(
        self, db: Database, clock: Clock, url: str, exchange: Exchange, pulled: Collection[str], *, pause: float = 1.0
    ) -> None:
        address = httpx.URL(url)
        if address.scheme not in ("http", "https") or not address.host:
            raise BadInput("ORCHESTRATOR_URL is no address of a server.", hint="Write http://host:port.")
        port = address.port or (443 if address.scheme == "https" else 80)
        self._exchange = exchange.with_allowed(address.host, port)
        self._db, self._clock, self._url = db, clock, url.rstrip("/")
        self._pulled, self._pause = frozenset(pulled), pause

    async def changed(self, tx: Connection, workflow: Workflow, patch: Patch) -> None:
        """The patch will be sent; what was imported came from outside and does not go back."""
        if patch.kind is PatchKind.IMPORT:
            return
        runner: dict[str, Any] = {}
        if patch.job_id is not None:
            runner = (await jobs.get(tx, patch.job_id)).payload.get("runner") or {}
        owner = await principals.by_id(tx, workflow.principal_id)
        user = str(runner.get("workflow_owner") or (owner.name if owner else "owner"))
        # A run is patched only with what changes its own workflow; one that is new is nobody's.
        own = patch.base_version > 0 and runner.get("workflow_tag") in (None, workflow.tag)
        run = runner.get("run_id") if own else None
        tag, body = quote(workflow.tag, safe=""), {"operations": patch.operations, "description": patch.description}
        if run:
            body |= {"workflow_tag": workflow.tag} | ({"node_id": runner["node_id"]} if runner.get("node_id") else {})
            method, path = "POST", f"/api/v1/runs/{quote(str(run), safe='')}/patches"
        else:
            method, path = "PATCH", f"/api/v1/workflows/{tag}/patch"
        await workflow_patches.forward(tx, patch.id, method, path, _header(user), body, self._clock.now())

    async def begin(self) -> None:
        """What was being sent when its sender died is uncertain, and its owner knows."""
        async with self._db.transaction() as tx:
            for forward in await workflow_patches.cut_off(tx):
                await self._tell(tx, forward, "It may or may not have arrived: it was cut off while it was sent.")

    async def turn(self) -> bool:
        """One patch has been sent, or tried; False if none was to be sent now."""
        async with self._db.transaction() as tx:
            forward = await workflow_patches.claim_forward(tx, self._clock.now())
        if forward is None:
            return False
        outcome = await self._sent(forward)
        async with self._db.transaction() as tx:
            until = self._clock.now() + timedelta(seconds=min(self._pause * 2**forward.attempts / 2, LONGEST_PAUSE))
            await workflow_patches.settle_forward(tx, forward.id, outcome.state, outcome.said, until)
            if outcome.state in (ForwardState.REFUSED, ForwardState.UNCERTAIN):
                await self._tell(tx, forward, outcome.said or "")
        return True

    async def _sent(self, forward: Forward) -> _Outcome:
        question = Question(
            forward.method, self._url + forward.path,
            {"Content-Type": "application/json", "X-User-ID": forward.user_id,
             "Idempotency-Key": str(forward.patch_id)},
            json.dumps(forward.body).encode(),
        )  # fmt: skip
        try:
            reply = await self._exchange.ask(question, seconds=SECONDS)
        except (Forbidden, BadInput) as error:
            return _Outcome(ForwardState.REFUSED, f"It cannot be sent: {error}")
        except NotConnected as error:
            return _again(forward, str(error))
        except Unavailable as error:
            return _Outcome(ForwardState.UNCERTAIN, f"It may or may not have arrived: {error.message}")
        return _judged(forward, reply)

    async def _tell(self, tx: Connection, forward: Forward, said: str) -> None:
        patch = await workflow_patches.of_id(tx, forward.patch_id)
        workflow = await workflows.by_id(tx, patch.workflow_id)
        tag = workflow.tag if workflow else "?"
        text = (
            f"The orchestrator has not taken version {patch.version} of workflow `{tag}`"
            f"{f' ({patch.description})' if patch.description else ''}. {said} "
            "Here the patch is stored; undo it, or make the change there by hand."
        )
        await tell(tx, patch, text, key=f"workflow-forward:{forward.id}", pulled=self._pulled)


def _judged(forward: Forward, reply: Reply) -> _Outcome:
    if reply.status < 300:
        return _Outcome(ForwardState.SENT)
    said = f"It answered {reply.status}: {' '.join((reply.body.text or '').split())[:300]}".rstrip(": ")
    return _again(forward, said) if reply.status >= 500 or reply.status in _AGAIN else _Outcome(
        ForwardState.REFUSED, said
    )  # fmt: skip


def _again(forward: Forward, said: str) -> _Outcome:
    if forward.attempts >= MOST_ATTEMPTS:
        return _Outcome(ForwardState.REFUSED, f"{said} It was tried {forward.attempts} times.")
    return _Outcome(ForwardState.PENDING, said)


def _header(user: str) -> str:
    """A name that can stand in a header."""
    return "".join(c for c in user if c.isascii() and c.isprintable())[:200] or "owner"
