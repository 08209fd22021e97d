"""The whole of Telegram: what comes in by webhook or polling, what goes out, and what is shown meanwhile."""

from __future__ import annotations

from collections.abc import Sequence

from aiogram import Bot

from laneway.channels.arrival import Arrival, Taken
from laneway.channels.contract import Duty
from laneway.channels.pacing import Pacer
from laneway.channels.telegram.api import make_bot
from laneway.channels.telegram.channel import NAME, TelegramChannel
from laneway.channels.telegram.inbound import Inbound
from laneway.channels.telegram.live import Live
from laneway.channels.telegram.polling import Polling
from laneway.channels.telegram.view import Stage, Timing
from laneway.channels.telegram.webhook import Webhook, checked_secret
from laneway.clock import SystemClock
from laneway.domain.judgement import OutboxRow
from laneway.engine.stream import Hub
from laneway.errors import Unavailable
from laneway.settings import Settings
from laneway.store import conversations
from laneway.store.database import Database


class Telegram(TelegramChannel):
    """One bot, in and out. With a secret Telegram posts to us; without one it is asked."""

    def __init__(self, bot: Bot, db: Database, hub: Hub, secret: str | None, timing: Timing | None = None) -> None:
        super().__init__(bot, Pacer(SystemClock()), moved=self._rename, before=self._quiet)
        self._db = db
        self._inbound = Inbound(bot, self._take, self.tell, db)
        self._live = Live(Stage(bot, self.room, self.flood, timing or Timing()), hub, db)
        self._polling = Polling(bot, self._inbound, db) if secret is None else None
        self.webhook = None if secret is None else Webhook(secret, self._inbound.take)

    def duties(self) -> Sequence[Duty]:
        """Updates are asked for, unless Telegram posts them; and people see what is being worked on."""
        return [self._live.run] if self._polling is None else [self._live.run, self._polling.run]

    async def close(self) -> None:
        """Nothing goes to Telegram any more."""
        await self._inbound.close()
        await super().close()

    async def _take(self, arrival: Arrival) -> Taken:
        if self.door is None:
            raise Unavailable("The door is not open yet.", hint="Send it again.")
        return await self.door.take(arrival)

    async def _quiet(self, row: OutboxRow) -> None:
        """What was shown of the job is gone before its answer comes."""
        await self._live.quiet(str(row.meta.get("answers", "")))

    async def _rename(self, before: str, after: str) -> None:
        async with self._db.transaction() as tx:
            await conversations.rename_thread(tx, NAME, before, after)


def telegram_channel(settings: Settings, db: Database, hub: Hub) -> Telegram:
    """The channel as the settings want it; SettingsError if the webhook has no secret, or the token cannot be one."""
    assert settings.telegram_token is not None
    secret = None
    if settings.telegram_mode == "webhook":
        given = settings.telegram_secret
        secret = checked_secret(None if given is None else given.get_secret_value())
    return Telegram(make_bot(settings.telegram_token.get_secret_value(), settings.telegram_api_url), db, hub, secret)
