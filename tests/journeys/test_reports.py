"""Somebody reports trouble and orders nothing: it is looked into, changing nothing, and never waved away."""

from __future__ import annotations

from laneway.llm.offline.reports import LOOKED
from laneway.llm.offline.turn import NOTHING_ASKED
from tests.journeys.tables_asked import offline
from tests.serving import scripted
from tests.web.conftest import Open

REPORTS = """
The website is down
the backup failed last night
disk is almost full I think
nginx crashed again this morning
our shop has been terribly slow since lunch
The server feels sluggish today.
postgres refuses connections
emails are not going out
I can't log in to the server any more
the nightly export did not run
redis keeps running out of memory
Customers say the checkout page shows an error
the disk on the web box is at 98 percent
the load went through the roof after the deploy
our api returns 502 for everyone
the certificate has expired
cron jobs have not run since Friday
someone is hammering the login page
docker died and took three containers with it
the logs are full of timeouts
swap is completely used up
it takes ages to open any page
the printer queue is stuck
the internet connection keeps dropping
I think the database is corrupted
grafana shows nothing since midnight
the vpn does not connect from home
there is no space left on /var
too many open files, says the app
the site gives me a blank white page
mysql is eating all the ram
the fan is screaming and the cpu is hot
users complain that the site hangs at 99%
backup disk is missing after the reboot
my deployment is stuck since an hour
ssh logins time out from the office
the queue is not being worked off
the machine rebooted by itself during the night
nothing works since the update
We are getting lots of 500 errors
""".strip().splitlines()

READY = {"taxonomy": "message", "turns": [{"author": "user", "text": "hello"}]}
"""Judging a text waits until the classifier is loaded."""


async def test_a_report_of_trouble_is_looked_into_and_nothing_is_changed(opened: Open) -> None:
    async with opened(offline(), local_classifier=True) as door:
        await door.post("/classify", json=READY)
        receipts = [await door.send(text, thread=f"report {at}") for at, text in enumerate(REPORTS)]
        jobs = [await door.until(one["job_id"], "done", "waiting", seconds=60) for one in receipts]
        tools = door.rows("SELECT DISTINCT tool FROM effects")
    ended = [
        (text, job["lane"], (job["result"] or {}).get("reply", "")) for text, job in zip(REPORTS, jobs, strict=True)
    ]
    assert [one for one in ended if one[1] != "tools"] == []
    assert [one[0] for one in ended if LOOKED not in one[2]] == []
    assert len(REPORTS) == 40
    assert tools == [("server_info",)]


async def test_a_remark_is_answered_by_the_model_which_is_told_that_nothing_is_ordered(opened: Open) -> None:
    async with opened(scripted(), local_classifier=True) as door:
        await door.post("/classify", json=READY)
        shown = await door.ask("the intern dropped the wrong table once, we laughed about it for years")
    assert NOTHING_ASKED in shown["replies"][-1]["text"], "the model of this test repeats what it is sent"
