"""A notice reaches people once, not too often, by every way there is, and hurts nobody on its way."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from laneway.errors import BadInput, LanewayError, Unavailable
from laneway.observe.notify import Notice, Notifier, Pace
from laneway.observe.ways import Desktop, Webhook, desktop
from laneway.reactors import Severity
from laneway.sandbox.exchange import Exchange
from laneway.sandbox.hosts import Allowed
from tests.observe.live_logs import NOON
from tests.servers.loopback import Loopback

TEXT = "Bash rm -rf /: It removes <everything> & more."
WHOSE = ("claude-code", "5c1e7a90-0000", "/home/u/shop")
NOTICE = Notice("k1", TEXT, *WHOSE, reactor="safety", severity=Severity.NOTIFICATION, at=NOON)


@dataclass
class Remembers:
    """A way that remembers, and fails as often as it is told to."""

    name: str = "memory"
    failures: int = 0
    opened: asyncio.Event | None = None
    """It tells nobody before this has happened."""
    told: list[Notice] = field(default_factory=list)

    async def tell(self, notice: Notice) -> None:
        if self.opened is not None:
            await self.opened.wait()
        if self.failures:
            self.failures -= 1
            raise Unavailable("It is broken.")
        self.told.append(notice)


async def test_notices_come_not_too_often_and_those_held_back_are_counted() -> None:
    now = [0.0]
    pace = Pace(2, lambda: now[0])
    given = [pace.passes(replace(NOTICE, key=str(number))) for number in range(5)]
    assert [notice is not None for notice in given] == [True, True, False, False, False]
    assert pace.passes(replace(NOTICE, severity=Severity.KILL)) is not None, "an end is never held back"
    pace.passes(NOTICE)
    now[0] = 61
    later = pace.passes(NOTICE)
    assert later is not None
    assert later.text.endswith("(1 more notice was held back.)")


async def test_a_way_that_fails_or_is_slow_keeps_no_other_waiting_and_each_notice_is_told_once() -> None:
    opened, troubles = asyncio.Event(), list[str]()
    broken, slow, good = Remembers("broken", failures=2), Remembers("slow", opened=opened), Remembers("good")
    notifier = Notifier((broken, slow, good), Pace(100), troubles.append)
    task = asyncio.create_task(notifier.keep_telling())
    for number in (0, 1, 1, 2, 0):
        # The thread that reads puts them, too.
        await asyncio.to_thread(notifier.put, replace(NOTICE, key=str(number)))
    async with asyncio.timeout(30):
        while len(good.told) < 3:
            await asyncio.sleep(0.01)
    assert slow.told == []
    opened.set()
    await notifier.finish(30)
    task.cancel()
    assert [notice.key for notice in slow.told] == [notice.key for notice in good.told] == ["0", "1", "2"]
    assert [notice.key for notice in broken.told] == ["2"]
    assert troubles == ["Notices by broken do not arrive: It is broken."]


async def test_the_desktop_gets_its_words_as_arguments_and_never_through_a_shell(tmp_path: Path) -> None:
    program, log = tmp_path / "notify-send", tmp_path / "log"
    program.write_text(f"#!/bin/sh\nfor word; do printf '%s\\n' \"$word\"; done > {log}\n")
    program.chmod(0o755)
    nasty = replace(NOTICE, text='--help; $(touch /tmp/was-here) `id` <b>x</b> & "quoted"', provider="--version")
    found = desktop({"PATH": str(tmp_path), "DISPLAY": ":0"})
    assert found is not None
    await found.tell(nasty)
    assert log.read_text().splitlines()[-3:] == [
        "--",
        "--version in shop",
        '--help; $(touch /tmp/was-here) `id` &lt;b&gt;x&lt;/b&gt; &amp; "quoted"',
    ]


async def test_without_a_desktop_there_is_no_such_way(tmp_path: Path) -> None:
    assert desktop({"PATH": str(tmp_path), "DISPLAY": ":0"}) is None
    (tmp_path / "notify-send").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "notify-send").chmod(0o755)
    assert desktop({"PATH": str(tmp_path)}) is None
    with pytest.raises(LanewayError, match="code 1"):
        await Desktop(str(tmp_path / "notify-send")).tell(NOTICE)
    with pytest.raises(LanewayError, match="cannot be started"):
        await Desktop(str(tmp_path / "nothing")).tell(NOTICE)


@dataclass
class Hook:
    """A webhook's server: answers with the codes it is given, then with 200."""

    codes: list[int] = field(default_factory=list)
    got: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)

    async def take(self, request: Request) -> Response:
        self.got.append(json.loads(await request.body()))
        self.keys.append(request.headers["idempotency-key"])
        code = self.codes.pop(0) if self.codes else 200
        return RedirectResponse("/elsewhere", 302) if code == 302 else JSONResponse({}, code)

    def serve(self) -> Loopback:
        return Loopback(Starlette(routes=[Route("/hook/secret", self.take, methods=["POST"])]))


async def test_a_webhook_gets_json_and_is_tried_again_while_it_is_down_but_not_if_it_refuses() -> None:
    hook = Hook(codes=[503, 429])
    with hook.serve() as server:
        await Webhook(f"{server.url}/hook/secret", pauses=(0.01, 0.01, 0.01)).tell(NOTICE)
    assert len(hook.got) == 3
    assert set(hook.keys) == {"k1"}, "who gets it twice can tell"
    assert hook.got[-1] == {
        "text": f"claude-code in shop (5c1e7a90): {NOTICE.text}", "reason": NOTICE.text, "severity": "notification",
        "reactor": "safety", "provider": "claude-code", "session": "5c1e7a90-0000", "folder": "/home/u/shop",
        "at": "2026-01-01T12:00:00+00:00", "id": "k1",
    }  # fmt: skip
    # One that refuses is not asked again, and its address is not told.
    for code in (400, 302):
        hook = Hook(codes=[code])
        with hook.serve() as server, pytest.raises(LanewayError) as refused:
            await Webhook(f"{server.url}/hook/secret", pauses=(0.01,)).tell(NOTICE)
        assert len(hook.got) == 1
        assert "secret" not in str(refused.value)


async def test_a_webhook_whose_name_leads_to_a_clouds_secrets_is_refused() -> None:
    async def lies(host: str, port: int) -> list[str]:
        return ["169.254.169.254"]

    with pytest.raises(LanewayError, match=r"169\.254"):
        await Webhook("http://hook.example/", exchange=Exchange(Allowed(), resolve=lies), pauses=()).tell(NOTICE)


@pytest.mark.parametrize("address", ["ftp://example.org/x", "http://user:secret@example.org/", "nonsense secret"])
def test_a_webhook_that_is_no_address_is_refused_without_repeating_it(address: str) -> None:
    with pytest.raises(BadInput, match="LANEWAY_NOTIFY_WEBHOOK") as refused:
        Webhook(address)
    assert "secret" not in str(refused.value)
