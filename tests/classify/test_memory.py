"""What the small model judged is not paid for twice, and never taken for more than it is; with the real encoder."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from laneway.classify.cascade import Cascade
from laneway.classify.local import LocalClassifier
from laneway.classify.memory import ALIKE, Memory
from laneway.classify.model import Said
from laneway.classify.taxonomy import load
from laneway.llm.encoders import Vectors
from laneway.store.database import Database
from laneway.store.housekeeping import tidy
from tests.classify.asking import UNCLEAR, UNSURE, answer, small_model, turns
from tests.classify.encoders import first_encoder
from tests.servers import AnthropicServer, Script

MESSAGE = load()["message"]
QUESTION = Said("question", "Wants the uptime.", "Look it up.", {"needs_confirmation": False}, 0.9)
COMMAND = Said("command", "Wants a restart.", "Restart it.", {"needs_confirmation": True}, 0.9)
KNOWN, ALMOST, OTHER = "uptime of the web server", "the uptime of the web server", "uptime of the mail server"
ORDER, SAME_ORDER = "nginx: restart it on web1", "nginx: restart it on web2"
LONG = "and by the way the thing with the certificate of the shop, the one from last week, again please"


def meaning(text: str) -> Vectors:
    (vector,) = first_encoder().encode([text])
    return np.asarray(vector, np.float32)


def nearness(one: str, other: str) -> float:
    return float(meaning(one) @ meaning(other))


async def stored(db: Database) -> int:
    async with db.transaction() as tx:
        row = await (await tx.execute("SELECT count(*) FROM judgements")).fetchone()
    assert row is not None
    return int(row[0])


async def test_the_same_text_is_not_paid_for_twice(db: Database) -> None:
    with AnthropicServer(Script(answer())) as server:
        first = Cascade(small_model(server, db), memory=Memory(db, "test:1"))
        judged = await first.judge(turns(UNCLEAR))
        restarted = Cascade(small_model(server, db), memory=Memory(db, "test:1"))
        for spelling in (UNCLEAR, UNCLEAR.upper(), f"  {UNCLEAR.replace(' ', '   ')}!\n"):
            again = await restarted.judge(turns(spelling))
            assert again.decided_by == "memory"
            assert replace(again, decided_by="model", milliseconds=judged.milliseconds) == judged
        assert len(server.requests) == 1


async def test_a_judgement_belongs_to_one_prompt_and_one_taxonomy(db: Database) -> None:
    for said in (COMMAND, QUESTION):
        # What was kept first stays.
        await Memory(db, "builtin:1").keep(MESSAGE, UNCLEAR, None, said)
    question, *rest = MESSAGE.labels
    changed = [
        MESSAGE.with_examples([("whatever that was", "other")], {}),
        replace(MESSAGE, labels=(replace(question, brief="wants to know nothing"), *rest)),
        replace(MESSAGE, flags=(replace(MESSAGE.flags[0], brief="always true"),)),
        replace(MESSAGE, name="mine"),
    ]
    assert await Memory(db, "builtin:1").recall(MESSAGE, UNCLEAR, None, likely="question") == COMMAND
    assert await Memory(db, "builtin:2").recall(MESSAGE, UNCLEAR, None, likely="question") is None
    for other in changed:
        assert await Memory(db, "builtin:1").recall(other, UNCLEAR, None, likely="question") is None


async def test_a_text_that_means_nearly_the_same_is_judged_the_same_in_its_own_words(db: Database) -> None:
    memory, first = Memory(db, "test:1"), meaning(KNOWN)
    await memory.keep(MESSAGE, "by another encoder", np.ones(384, np.float32), COMMAND)
    await memory.keep(MESSAGE, KNOWN, first, QUESTION)
    assert nearness(KNOWN, ALMOST) > ALIKE > nearness(KNOWN, OTHER) > 0.7
    found = await memory.recall(MESSAGE, ALMOST, meaning(ALMOST), likely="question")
    assert found == replace(QUESTION, summary="", plan="")
    assert await memory.recall(MESSAGE, OTHER, meaning(OTHER), likely="question") is None
    assert await memory.recall(MESSAGE, ALMOST, None, likely="question") is None
    aside = meaning(OTHER) - (meaning(OTHER) @ first) * first
    for cosine, recalled in ((0.901, True), (0.899, False)):
        turned = cosine * first + (1 - cosine**2) ** 0.5 * aside / np.linalg.norm(aside)
        found = await memory.recall(MESSAGE, "another text", turned.astype(np.float32), likely="question")
        assert (found is not None) is recalled, cosine


async def test_an_action_is_recalled_word_for_word_or_not_at_all(db: Database) -> None:
    memory = Memory(db, "test:1")
    assert nearness(ORDER, SAME_ORDER) > ALIKE
    await memory.keep(MESSAGE, ORDER, meaning(ORDER), COMMAND)
    assert await memory.recall(MESSAGE, SAME_ORDER, meaning(SAME_ORDER), likely="question") is None
    assert await memory.recall(MESSAGE, ORDER, meaning(ORDER), likely="question") == COMMAND
    # The same holds for what only looks like an action, and for labels whose mistakes are dangerous.
    await memory.keep(MESSAGE, KNOWN, meaning(KNOWN), QUESTION)
    assert await memory.recall(MESSAGE, ALMOST, meaning(ALMOST), likely="command") is None
    assert await memory.recall(MESSAGE, KNOWN.upper(), meaning(KNOWN), likely="command") == QUESTION
    for name, label in (("lane", "patch"), ("function", "code"), ("route", "workflow")):
        taxonomy = load()[name]
        await memory.keep(taxonomy, KNOWN, meaning(KNOWN), Said(label, "", "", {}, 0.9))
        assert await memory.recall(taxonomy, ALMOST, meaning(ALMOST), likely=taxonomy.fallback) is None, name


async def test_a_like_question_is_not_paid_for_and_a_like_order_is(db: Database, never_sure: LocalClassifier) -> None:
    script = Script(answer(intent="question", summary="About web.", needs_confirmation=False), answer(), answer())
    with AnthropicServer(script) as server:
        cascade = Cascade(small_model(server, db), never_sure, Memory(db, "test:1"), {"message": UNSURE})
        judged = [await cascade.judge(turns(text)) for text in (KNOWN, ALMOST, ORDER, SAME_ORDER)]
        assert len(server.requests) == 3
    assert [one.decided_by for one in judged] == ["model", "memory", "model", "model"]
    assert [one.needs_confirmation for one in judged] == [False, False, True, True]
    assert (judged[0].summary, judged[1].summary) == ("About web.", f"The user asks: {ALMOST}")


async def test_a_short_message_after_others_is_never_remembered(db: Database) -> None:
    with AnthropicServer(Script(answer(), answer(intent="other"), answer(intent="question"))) as server:
        cascade = Cascade(small_model(server, db), memory=Memory(db, "test:1"))
        said = turns("is nginx up?", "It is down since noon.", UNCLEAR)
        assert [(await cascade.judge(said)).intent, (await cascade.judge(said)).intent] == ["command", "other"]
        assert await stored(db) == 0
        assert (await cascade.judge(turns(UNCLEAR))).intent == "question"
        assert (await cascade.judge(said)).decided_by == "rules", "nor is what was said elsewhere taken for it"
        assert len(server.requests) == 5


async def test_a_long_message_after_others_is_remembered_without_a_word_of_them(db: Database) -> None:
    private = answer(summary="Wants the certificate of the bakery renewed.", plan="Renew the bakery's.")
    with AnthropicServer(Script(private, answer(summary="Wants that of the florist."))) as server:
        cascade = Cascade(small_model(server, db), memory=Memory(db, "test:1"))
        first = await cascade.judge(turns("who complained?", "The bakery did.", LONG))
        elsewhere = await cascade.judge(turns(LONG))
        # A follow-up is not taken for the long message it refers to.
        later = await cascade.judge(turns(LONG, "Done.", "and the florist's too"))
    assert "bakery" in first.summary
    assert (elsewhere.decided_by, elsewhere.intent) == ("memory", first.intent)
    assert "bakery" not in elsewhere.summary + elsewhere.plan
    assert (later.decided_by, later.summary, await stored(db)) == ("model", "Wants that of the florist.", 1)


async def test_judgements_of_long_ago_are_forgotten(db: Database) -> None:
    memory = Memory(db, "test:1")
    await memory.keep(MESSAGE, "old", None, QUESTION)
    async with db.transaction() as tx:
        await tx.execute("UPDATE judgements SET created_at = now() - interval '91 days'")
    await memory.keep(MESSAGE, "new", None, QUESTION)
    async with db.transaction() as tx:
        assert await tidy(tx, 30) == 1
    assert await memory.recall(MESSAGE, "old", None, likely="question") is None
    assert await memory.recall(MESSAGE, "new", None, likely="question") == QUESTION
