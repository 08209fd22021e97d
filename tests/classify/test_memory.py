"""What the small model judged is not paid for twice, and never taken for more than it is; with the real encoder."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from laneway.classify.cascade import Cascade
from laneway.classify.local import LocalClassifier
from laneway.classify.memory import ALIKE, Memory
from laneway.classify.model import Said
from laneway.classify.taxonomy import Flag, Label, Taxonomy, load
from laneway.llm.encoders import Encoder, UseEncoder, Vectors
from laneway.store.database import Database
from laneway.store.housekeeping import tidy
from tests.classify.asking import UNCLEAR, answer, small_model, turns
from tests.servers import AnthropicServer, Script

MESSAGE = load()["message"]
QUESTION = Said("question", "Wants the uptime.", "Look it up.", {"needs_confirmation": False}, 0.9)
COMMAND = Said("command", "Wants a restart.", "Restart it.", {"needs_confirmation": True}, 0.9)
KNOWN, ALMOST, OTHER = "uptime of the web server", "the uptime of the web server", "uptime of the mail server"
ORDER, SAME_ORDER = "nginx: restart it on web1", "nginx: restart it on web2"
LONG = "and by the way the thing with the certificate of the shop, the one from last week, again please"
UNSURE = Taxonomy(
    "message",
    (
        Label("question", examples=("uptime of the database", "size of the log folder", "version of the kernel",
                                    "owner of that process", "load of the server at night", "how full is the disk?")),
        Label("command"),
        Label("other", examples=("hello there", "thanks a lot", "see you later", "good morning")),
    ),
    (Flag("needs_confirmation", "command", yes=("restart the web server", "delete the old logs", "stop the database"),
          no=("show the last log lines", "list all users", "print the disk usage")),),
    fallback="question",
    precision=2.0,
)  # fmt: skip
"""A taxonomy whose local classifier is never sure: no judgement is right more than always."""


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return UseEncoder()


@pytest.fixture(scope="module")
def local(encoder: Encoder, tmp_path_factory: pytest.TempPathFactory) -> LocalClassifier:
    """A local classifier that leaves every decision to somebody better."""
    made = LocalClassifier({"message": UNSURE}, tmp_path_factory.mktemp("cache"), [lambda: encoder])
    made.warm(["message"])
    return made


def meaning(encoder: Encoder, text: str) -> Vectors:
    (vector,) = encoder.encode([text])
    return np.asarray(vector, np.float32)


def nearness(encoder: Encoder, one: str, other: str) -> float:
    return float(meaning(encoder, one) @ meaning(encoder, other))


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


async def test_what_the_model_failed_to_judge_is_asked_again(db: Database) -> None:
    wrong = answer(intent="order")
    with AnthropicServer(Script(wrong, wrong, answer())) as server:
        cascade = Cascade(small_model(server, db), memory=Memory(db, "test:1"))
        assert (await cascade.judge(turns(UNCLEAR))).decided_by == "rules"
        assert (await cascade.judge(turns(UNCLEAR))).decided_by == "model"


async def test_a_judgement_belongs_to_one_prompt_and_one_taxonomy(db: Database) -> None:
    await Memory(db, "builtin:1").keep(MESSAGE, UNCLEAR, None, COMMAND)
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


async def test_another_prompt_pays_again(db: Database) -> None:
    with AnthropicServer(Script(answer(), answer(intent="other"))) as server:
        for version, intent in (("test:1", "command"), ("test:2", "other"), ("test:1", "command")):
            cascade = Cascade(small_model(server, db), memory=Memory(db, version))
            assert (await cascade.judge(turns(UNCLEAR))).intent == intent
        assert len(server.requests) == 2


async def test_a_text_that_means_nearly_the_same_is_judged_the_same_in_its_own_words(
    db: Database, encoder: Encoder
) -> None:
    memory = Memory(db, "test:1")
    await memory.keep(MESSAGE, KNOWN, meaning(encoder, KNOWN), QUESTION)
    assert nearness(encoder, KNOWN, ALMOST) > ALIKE > nearness(encoder, KNOWN, OTHER) > 0.7
    found = await memory.recall(MESSAGE, ALMOST, meaning(encoder, ALMOST), likely="question")
    assert found == replace(QUESTION, summary="", plan="")
    assert await memory.recall(MESSAGE, OTHER, meaning(encoder, OTHER), likely="question") is None
    assert await memory.recall(MESSAGE, ALMOST, None, likely="question") is None


async def test_likeness_begins_at_a_cosine_of_nine_tenths(db: Database, encoder: Encoder) -> None:
    memory, first = Memory(db, "test:1"), meaning(encoder, KNOWN)
    await memory.keep(MESSAGE, KNOWN, first, QUESTION)
    aside = meaning(encoder, OTHER) - (meaning(encoder, OTHER) @ first) * first
    for cosine, recalled in ((0.92, True), (0.901, True), (0.899, False), (0.5, False)):
        turned = cosine * first + (1 - cosine**2) ** 0.5 * aside / np.linalg.norm(aside)
        found = await memory.recall(MESSAGE, "another text", turned.astype(np.float32), likely="question")
        assert (found is not None) is recalled, cosine


async def test_an_action_is_never_recalled_by_likeness(db: Database, encoder: Encoder) -> None:
    memory = Memory(db, "test:1")
    assert nearness(encoder, ORDER, SAME_ORDER) > ALIKE
    await memory.keep(MESSAGE, ORDER, meaning(encoder, ORDER), COMMAND)
    assert await memory.recall(MESSAGE, SAME_ORDER, meaning(encoder, SAME_ORDER), likely="question") is None
    assert await memory.recall(MESSAGE, ORDER, meaning(encoder, ORDER), likely="question") == COMMAND


async def test_what_looks_like_an_action_is_recalled_word_for_word_or_not_at_all(
    db: Database, encoder: Encoder
) -> None:
    memory = Memory(db, "test:1")
    await memory.keep(MESSAGE, KNOWN, meaning(encoder, KNOWN), QUESTION)
    assert await memory.recall(MESSAGE, ALMOST, meaning(encoder, ALMOST), likely="command") is None
    assert await memory.recall(MESSAGE, KNOWN.upper(), meaning(encoder, KNOWN), likely="command") == QUESTION


@pytest.mark.parametrize(("name", "label"), [("lane", "patch"), ("function", "code"), ("route", "workflow")])
async def test_a_label_whose_mistakes_are_dangerous_is_never_recalled_by_likeness(
    db: Database, encoder: Encoder, name: str, label: str
) -> None:
    taxonomy, memory = load()[name], Memory(db, "test:1")
    await memory.keep(taxonomy, KNOWN, meaning(encoder, KNOWN), Said(label, "", "", {}, 0.9))
    assert await memory.recall(taxonomy, ALMOST, meaning(encoder, ALMOST), likely=taxonomy.fallback) is None


async def test_meanings_by_another_encoder_are_passed_over(db: Database, encoder: Encoder) -> None:
    memory = Memory(db, "test:1")
    await memory.keep(MESSAGE, "of before", np.ones(384, np.float32), COMMAND)
    assert await memory.recall(MESSAGE, ALMOST, meaning(encoder, ALMOST), likely="question") is None
    await memory.keep(MESSAGE, KNOWN, meaning(encoder, KNOWN), QUESTION)
    assert await memory.recall(MESSAGE, ALMOST, meaning(encoder, ALMOST), likely="question") is not None


async def test_a_like_question_is_not_paid_for_and_a_like_order_is(db: Database, local: LocalClassifier) -> None:
    script = Script(answer(intent="question", summary="About web.", needs_confirmation=False), answer(), answer())
    with AnthropicServer(script) as server:
        cascade = Cascade(small_model(server, db), local, Memory(db, "test:1"), {"message": UNSURE})
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
    with AnthropicServer(Script(private)) as server:
        cascade = Cascade(small_model(server, db), memory=Memory(db, "test:1"))
        first = await cascade.judge(turns("who complained?", "The bakery did.", LONG))
        elsewhere = await cascade.judge(turns(LONG))
    assert "bakery" in first.summary
    assert (elsewhere.decided_by, elsewhere.intent) == ("memory", first.intent)
    assert "bakery" not in elsewhere.summary + elsewhere.plan


async def test_a_follow_up_is_not_taken_for_the_long_message_it_refers_to(db: Database) -> None:
    other = answer(summary="Wants that of the bakery, too.")
    with AnthropicServer(Script(answer(), other)) as server:
        cascade = Cascade(small_model(server, db), memory=Memory(db, "test:1"))
        await cascade.judge(turns(LONG))
        judged = await cascade.judge(turns(LONG, "Done.", "and the bakery's too"))
    assert (judged.decided_by, judged.summary) == ("model", "Wants that of the bakery, too.")
    assert await stored(db) == 1


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


async def test_what_was_kept_first_stays(db: Database) -> None:
    memory = Memory(db, "test:1")
    for said in (COMMAND, QUESTION):
        await memory.keep(MESSAGE, UNCLEAR, None, said)
    assert await memory.recall(MESSAGE, UNCLEAR, None, likely="question") == COMMAND
    assert await stored(db) == 1
