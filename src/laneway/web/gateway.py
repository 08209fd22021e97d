"""What the routes share: the running Laneway, the stream of events, the reader, and who is asking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from laneway.app import App
from laneway.clock import Clock
from laneway.domain.conversation import Principal
from laneway.engine.stream import Hub
from laneway.store.reader import Reader
from laneway.store.vitals import Pulse
from laneway.web.metrics import Metrics


@dataclass(frozen=True)
class Gateway:
    """The HTTP door's own parts."""

    app: App
    hub: Hub
    reader: Reader
    metrics: Metrics
    clock: Clock
    pulse: Pulse


# Not plain functions: those would be run in a thread each time.
async def _gateway(request: Request) -> Gateway:
    found: Gateway = request.app.state.gateway
    return found


async def _principal(request: Request) -> Principal:
    found: Principal = request.scope["laneway.principal"]
    return found


Here = Annotated[Gateway, Depends(_gateway)]
Me = Annotated[Principal, Depends(_principal)]
