"""Whoever reads what a follow-up was understood as reads the user's own words, not only what they refer to."""

from __future__ import annotations

from laneway.classify.cascade import Cascade
from laneway.store.database import Database
from tests.classify.asking import JUDGED, UNCLEAR, answer, asked_of, section, small_model, turns
from tests.servers import AnthropicServer, Fail, Script

TABLE = ("drop the table tmp_2020", "Dropped.")
OFFER = ("the disk is full", "Shall I delete the old logs?")
LATER = ("it hangs", "Shall I install it now or tonight?")
DONE, ASKS, REFERS = "The user wants done:", "The user asks:", "which refers to"
OWN_WORDS = {
    (*TABLE, "tmp_2021 too"): f"{DONE} “tmp_2021 too”, {REFERS} “drop the table tmp_2020”",
    ("is web1 up?", "Yes.", "and web2?"): f"{ASKS} “and web2?”, {REFERS} “is web1 up?”",
    (*OFFER, "yes, but only last year's"): f"{DONE} “yes, but only last year's”, {REFERS} “delete the old logs”",
    (*LATER, "tonight"): f"{DONE} “tonight”, {REFERS} “install it now or tonight”",
}
PLAINLY = {
    ("ping the gateway", "It answers.", "again"): "Ping the gateway",
    (*OFFER, "yes please, go ahead"): "Delete the old logs",
    (*OFFER, "ok 👍"): "Delete the old logs",
    (*OFFER, "no, just list them"): "List them",
    ("draft a reply", "Dear Ms Koller …", "a bit friendlier"): "Rewrite the text: a bit friendlier",
}


async def test_a_follow_up_is_told_in_its_own_words_and_a_mere_yes_in_those_it_accepts() -> None:
    for said, summary in OWN_WORDS.items():
        judged = await Cascade().judge(turns(*said))
        assert judged.summary == summary
        assert judged.plan in (
            "Do it with the tools at hand and report.",
            "Look it up with the tools at hand and answer.",
        )
    for said, plan in PLAINLY.items():
        judged = await Cascade().judge(turns(*said))
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
    with AnthropicServer(Script(answer(), Fail(401))) as server:
        judged = await Cascade(small_model(server, db)).judge(said)
        failed = await Cascade(small_model(server, db)).judge(turns(UNCLEAR, "Done.", "and web2 too"))
        asked = asked_of(server.requests[0])
    assert (judged.decided_by, judged.summary) == ("model", JUDGED["summary"])
    assert failed.summary == f"{ASKS} “and web2 too”, {REFERS} “{UNCLEAR}”"
    assert section(asked, "message") == ["and web2 too"]
    assert section(asked, "conversation")[0] == "user: did it work?"
    assert section(asked, "conversation")[-1] == f"most likely this: {UNCLEAR}"
