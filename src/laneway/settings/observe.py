"""The settings of watching other agents' sessions, and of being told about them."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, SecretStr

from laneway.settings.field import setting

Way = Literal["desktop", "bell", "webhook", "channel"]


class ObserveSettings(BaseModel):
    """What the owner decided about watching."""

    watch_sessions: bool = setting(
        False, "watch.sessions", "LANEWAY_WATCH_SESSIONS",
        "The server watches other agents' sessions on its machine, keeps them and reacts.",
    )  # fmt: skip
    watch_polling: bool = setting(
        False, "watch.polling", "LANEWAY_WATCH_POLLING",
        "Look at the files again and again; for network file systems, where the system tells of no change.",
    )  # fmt: skip
    notify_by: tuple[Way, ...] = setting(
        ("desktop", "bell", "webhook", "channel"), "notify.by", "LANEWAY_NOTIFY",
        "How you are told what needs you: desktop, bell, webhook, channel.",
    )  # fmt: skip
    notify_webhook: SecretStr | None = setting(
        None, None, "LANEWAY_NOTIFY_WEBHOOK", "Address that is told by a POST of JSON; unset = none."
    )
    notify_per_minute: int = setting(
        6, "notify.per_minute", "LANEWAY_NOTIFY_PER_MINUTE", "Most notices in a minute; the rest are counted.", ge=1
    )
