"""Whoever reads what a follow-up was understood as reads the user's own words, not only what they refer to."""

from __future__ import annotations

import pytest

from laneway.classify.cascade import Cascade
from laneway.store.database import Database
from tests.classify.asking import JUDGED, UNCLEAR, answer, asked_of, section, small_model, turns
from tests.servers import AnthropicServer, Fail, Script

TABLE = ("drop the table tmp_2020", "Dropped.")
OFFER = ("the disk is full", "Shall I delete the old logs?")


@pytest.mark.parametrize(
    ("before", "said", "summary"),
    [
        (TABLE, "tmp_2021 too", "The user wants done: “tmp_2021 too”, which refers to “drop the table tmp_2020”"),
        (("is web1 up?", "Yes."), "and web2?", "The user asks: “and web2?”, which refers to “is web1 up?”"),
        (OFFER, "yes, but only last year's",
         "The user wants done: “yes, but only last year's”, which refers to “delete the old logs”"),
        (("it hangs", "Shall I install it now or tonight?"), "tonight",
         "The user wants done: “tonight”, which refers to “install it now or tonight”"),
        (("it hangs", "Shall I restart web1, web2, web3?"), "web3, yes",
         "The user wants done: “web3, yes”, which refers to “restart web1, web2, web3”"),
    ],
)  # fmt: skip
async def test_a_follow_up_is_told_in_its_own_words(before: tuple[str, ...], said: str, summary: str) -> None:
    judged = await Cascade().judge(turns(*before, said))
    assert judged.summary == summary
    assert judged.plan in ("Do it with the tools at hand and report.", "Look it up with the tools at hand and answer.")


@pytest.mark.parametrize(
    ("before", "said", "plan"),
    [
        (("ping the gateway", "It answers."), "again", "Ping the gateway"),
        (OFFER, "yes please, go ahead", "Delete the old logs"),
        (OFFER, "ok 👍", "Delete the old logs"),
        (OFFER, "no, just list them", "List them"),
        (("draft a reply to Ms Koller", "Dear Ms Koller …"), "a bit friendlier", "Rewrite the text: a bit friendlier"),
    ],
)  # fmt: skip
async def test_what_a_mere_yes_or_the_message_itself_orders_is_told_plainly(
    before: tuple[str, ...], said: str, plan: str
) -> None:
    judged = await Cascade().judge(turns(*before, said))
    assert judged.plan == f"{plan} with the tools at hand and report."
    assert judged.summary.casefold() == f"the user wants done: {plan.casefold()}"


async def test_a_person_who_chose_what_was_meant_reads_the_same_words() -> None:
    said = turns(*TABLE, "tmp_2021 too")
    cascade = Cascade()
    settled = await cascade.settled(said, await cascade.judge(said), "command")
    assert "“tmp_2021 too”" in settled.summary
    assert "tmp_2020" not in settled.plan


async def test_the_model_reads_the_follow_up_and_what_it_refers_to_however_long_ago(db: Database) -> None:
    said = turns(UNCLEAR, "Done.", "did it work?", "Yes.", "thanks", "You are welcome.", "and web2 too")
    with AnthropicServer(Script(answer())) as server:
        judged = await Cascade(small_model(server, db)).judge(said)
        asked = asked_of(server.requests[0])
    assert (judged.decided_by, judged.summary) == ("model", JUDGED["summary"])
    assert section(asked, "message") == ["and web2 too"]
    assert section(asked, "conversation") == [
        "user: did it work?", "assistant: Yes.", "user: thanks", "assistant: You are welcome.",
        f"most likely this: {UNCLEAR}",
    ]  # fmt: skip


async def test_a_model_that_fails_leaves_the_words_of_the_follow_up(db: Database) -> None:
    with AnthropicServer(Script(Fail(401))) as server:
        judged = await Cascade(small_model(server, db)).judge(turns(UNCLEAR, "Done.", "and web2 too"))
    assert judged.summary == f"The user asks: “and web2 too”, which refers to “{UNCLEAR}”"
