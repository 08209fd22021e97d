"""What the settings say about the server's watching."""

from __future__ import annotations

import os
from collections.abc import Collection

from laneway.observe.duty import Orders
from laneway.observe.notify import Way
from laneway.observe.ways import Webhook, desktop
from laneway.reactors.loading import load
from laneway.reactors.options import chosen
from laneway.sandbox.hosts import Allowed
from laneway.settings import Settings


def orders_of(settings: Settings, pulled: Collection[str]) -> Orders:
    """The orders; a server has no terminal whose bell it could ring."""
    ways: list[Way] = []
    if "desktop" in settings.notify_by and (shown := desktop()) is not None:
        ways.append(shown)
    if "webhook" in settings.notify_by and settings.notify_webhook is not None:
        ways.append(Webhook(settings.notify_webhook.get_secret_value(), Allowed.of(settings.allowed_hosts)))
    return Orders(
        environ=os.environ,
        options=chosen(settings, load(settings.reactor_folder or settings.home / "reactors")),
        ways=ways,
        channels="channel" in settings.notify_by,
        pulled=pulled,
        per_minute=settings.notify_per_minute,
        keep_days=settings.keep_events_days,
        polling=settings.watch_polling,
    )
