"""Corrections are learnt, stay learnt, and are refused where they would do harm; with the real encoders."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from laneway.channels.intake import Intake, Limits
from laneway.classify.corrections import Corrections
from laneway.classify.learning import Case, composed, learn
from laneway.classify.local import LocalClassifier
from laneway.classify.taxonomy import Flag, Label, Taxonomy, load
from laneway.domain.conversation import Incoming
from laneway.domain.judgement import Correction, CorrectionState, Event
from laneway.llm.encoders import Encoder, UseEncoder
from laneway.store import conversations, corrections, events, principals
from laneway.store.database import Database

pytestmark = pytest.mark.timeout(600)

ASK = (
    "how full is the disk?", "is the server up?", "who is logged in?", "why is the site slow?", "what is the load?",
    "when did the backup end?", "which port is open?", "how many users are there?", "where is the log kept?",
    "what uses the memory?", "is the database running?", "how long has it been up?",
)  # fmt: skip
CHANGE = (
    "restart the web server", "delete the old logs", "install the update", "stop the database", "create a new user",
    "kill that process",
)  # fmt: skip
READ = (
    "show the last log lines", "list all users", "print the disk usage", "count the open files", "check the backup",
    "display the running jobs",
)  # fmt: skip
SMALL = Taxonomy(
    "small", (Label("ask", examples=ASK), Label("do")), (Flag("confirm", "do", yes=CHANGE, no=READ),), fallback="ask"
)
TOML = """fallback = "ask"
[labels.ask]
examples = {ask}
[labels.do]
examples = []
[flags.confirm]
applies_to = "do"
yes = {change}
no = {read}
"""
STATEMENT = "the cache of the shop could do with a flush"


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return UseEncoder()


def judged(taxonomy: Taxonomy, encoder: Encoder, cache: Path, text: str) -> tuple[str, dict[str, bool]]:
    found = LocalClassifier({taxonomy.name: taxonomy}, cache, [lambda: encoder]).judge(taxonomy.name, text)
    return found.label, found.flags


def test_a_correction_changes_the_judgement_of_that_very_text(encoder: Encoder, tmp_path: Path) -> None:
    new = Case(STATEMENT, "do", True)
    other = Case("who flushes the cache of the shop?", "ask")
    verdict = learn(SMALL, [other], new, [encoder], tmp_path)
    assert verdict.accepted, verdict.reason
    assert judged(composed(SMALL, [other, new]), encoder, tmp_path, STATEMENT) == ("do", {"confirm": True})


@pytest.mark.parametrize(
    ("text", "label", "flag", "reason"),
    [
        ("Delete the old logs!", "ask", None, "“delete the old logs”, which is do (confirm)"),
        ("delete  the OLD logs", "do", False, "which is do (confirm)"),
        ("how full's the disk?", "do", True, "“how full is the disk?”, which is ask"),
    ],
)
def test_a_poisoned_correction_is_refused_with_a_sentence(
    encoder: Encoder, tmp_path: Path, text: str, label: str, flag: bool | None, reason: str
) -> None:
    verdict = learn(SMALL, [], Case(text, label, flag), [encoder], tmp_path)
    assert not verdict.accepted
    assert reason in verdict.reason
    assert list(tmp_path.iterdir()) == [], "nothing was trained with it"


def test_what_contradicts_an_accepted_correction_is_refused(encoder: Encoder, tmp_path: Path) -> None:
    verdict = learn(SMALL, [Case(STATEMENT, "do", True)], Case(f"{STATEMENT}.", "ask"), [encoder], tmp_path)
    assert not verdict.accepted
    assert STATEMENT in verdict.reason


def test_corrections_that_spoil_the_built_in_examples_are_refused(encoder: Encoder, tmp_path: Path) -> None:
    orders = ("restart the mail server", "delete the new logs", "install the package", "stop the web server",
              "create a new group", "kill that job", "show the first log lines", "list all groups",
              "print the memory usage", "count the open ports", "check the update", "display the running services",
              "restart the database", "remove the old backups")  # fmt: skip
    poison = [Case(text, "ask") for text in orders]
    verdict = learn(SMALL, poison[:-1], poison[-1], [encoder], tmp_path)
    assert not verdict.accepted
    assert "of the built-in examples would be judged right" in verdict.reason


def test_what_is_an_example_already_is_accepted_at_once(encoder: Encoder, tmp_path: Path) -> None:
    assert learn(SMALL, [], Case("Is the server up?", "ask"), [encoder], tmp_path).accepted
    assert list(tmp_path.iterdir()) == []


def test_a_command_of_which_nobody_said_whether_it_is_safe_is_still_judged(encoder: Encoder, tmp_path: Path) -> None:
    unsaid = "delete the old users and stop the web server"
    label, flags = judged(composed(SMALL, [Case(unsaid, "do")]), encoder, tmp_path, unsaid)
    assert (label, flags) == ("do", {"confirm": True})


def test_a_classifier_that_was_given_new_examples_judges_by_them_at_once(encoder: Encoder, tmp_path: Path) -> None:
    classifier = LocalClassifier({"small": SMALL}, tmp_path, [lambda: encoder])
    classifier.warm(["small"])
    text = "deploy?"
    assert classifier.judge("small", text).tier == 1
    classifier.replace(composed(SMALL, [Case(text, "do", True)]))
    assert classifier.ready("small")
    assert (classifier.judge("small", text).label, classifier.judge("small", text).tier) == ("do", 0)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A data directory whose owner added the small taxonomy."""
    text = TOML.format(ask=list(ASK), change=list(CHANGE), read=list(READ))
    (tmp_path / "taxonomies").mkdir()
    (tmp_path / "taxonomies" / "small.toml").write_text(text, encoding="utf-8")
    return tmp_path


class School:
    """The learning part of a running Laneway."""

    def __init__(self, db: Database, home: Path, encoder: Encoder) -> None:
        self.db = db
        self.local = LocalClassifier({"small": load(home)["small"]}, home / "cache" / "classify", [lambda: encoder])
        self.corrections = Corrections(db, home, self.local, always=["small"])

    async def correct(self, text: str, label: str, flag: bool | None = None) -> Correction:
        async with self.db.transaction() as tx:
            owner = await principals.set_owner_key(tx, "lw_key")
        receipt = await Intake(self.db, [], Limits(1000, 0)).receive(Incoming("http", "main", text, text, owner))
        async with self.db.transaction() as tx:
            message = await conversations.message(tx, receipt.message_id)
            assert message is not None
            return await self.corrections.take(tx, message, text, taxonomy="small", label=label, flag=flag, by=owner.id)

    async def withdraw(self, correction: Correction) -> None:
        async with self.db.transaction() as tx:
            await corrections.withdraw(tx, correction.id)

    async def judges(self, text: str, label: str, tier: int) -> None:
        """Returns once the text is judged so."""
        async with asyncio.timeout(300):
            while (found := self.local.judge("small", text)).tier != tier or found.label != label:
                await asyncio.sleep(0.05)

    async def decided(self, correction: Correction) -> Correction:
        async with asyncio.timeout(300):
            while True:
                async with self.db.transaction() as tx:
                    (found,) = await corrections.of_message(tx, correction.message_id)
                if found.state is not CorrectionState.PENDING:
                    return found
                await asyncio.sleep(0.1)

    async def ready(self) -> None:
        async with asyncio.timeout(300):
            while not self.local.ready("small"):
                await asyncio.sleep(0.05)

    async def told(self) -> list[Event]:
        async with self.db.transaction() as tx:
            return [e for e in await events.after(tx, events.START) if e.kind.startswith("classification.")]


@asynccontextmanager
async def school(db: Database, home: Path, encoder: Encoder) -> AsyncIterator[School]:
    opened = School(db, home, encoder)
    task = asyncio.create_task(opened.corrections.keep_learning())
    try:
        yield opened
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_corrections_are_decided_in_the_background_and_survive_a_restart(
    db: Database, home: Path, encoder: Encoder
) -> None:
    crashed = School(db, home, encoder)
    good = await crashed.correct(STATEMENT, "do", True)
    async with school(db, home, encoder) as first:
        accepted = await first.decided(good)
        assert (accepted.state, accepted.reason[:6]) == ("accepted", "Learnt")
        refused = await first.decided(await first.correct("stop the database!", "ask"))
        assert (refused.state, "nearly the same" in refused.reason) == ("refused", True)
        assert [(e.kind, e.body["reason"]) for e in await first.told()] == [
            ("classification.corrected", accepted.reason),
            ("classification.correction_refused", refused.reason),
        ]
        assert first.local.judge("small", "stop the database!").label == "do"
    async with school(db, home, encoder) as second:
        await second.ready()
        found = second.local.judge("small", STATEMENT)
        assert (found.label, found.flags, found.tier) == ("do", {"confirm": True}, 0)


async def test_what_was_withdrawn_is_forgotten_by_every_process(db: Database, home: Path, encoder: Encoder) -> None:
    async with school(db, home, encoder) as first, school(db, home, encoder) as second:
        await second.ready()
        # In its first moments it may be judged by the words alone.
        while (before := second.local.judge("small", STATEMENT)).tier != 1:
            await asyncio.sleep(0.05)
        learnt = await first.decided(await first.correct(STATEMENT, "do", True))
        assert learnt.state is CorrectionState.ACCEPTED
        for one in (first, second):
            await one.judges(STATEMENT, "do", tier=0)
        await first.withdraw(learnt)
        for one in (first, second):
            await one.judges(STATEMENT, before.label, tier=1)
        assert second.local.judge("small", STATEMENT).top == before.top, "it is the built-in taxonomy again"
        assert (await first.told())[-1].kind == "classification.correction_withdrawn"


async def test_a_correction_is_not_refused_because_of_one_that_was_withdrawn_meanwhile(
    db: Database, home: Path, encoder: Encoder
) -> None:
    async with school(db, home, encoder) as one:
        wrong = await one.decided(await one.correct(STATEMENT, "ask"))
        right = await one.correct(f"{STATEMENT}!", "do", True)
        # By now a process of its own compares it with the wrong one, or is about to.
        await asyncio.sleep(0.3)
        await one.withdraw(wrong)
        assert (await one.decided(right)).state is CorrectionState.ACCEPTED
        await one.judges(STATEMENT, "do", tier=0)


async def test_what_was_withdrawn_before_it_was_decided_is_not_learnt(
    db: Database, home: Path, encoder: Encoder
) -> None:
    early = School(db, home, encoder)
    await early.withdraw(await early.correct(STATEMENT, "do", True))
    async with school(db, home, encoder) as one:
        other = await one.decided(await one.correct("who flushes the cache of the shop?", "ask"))
        assert other.state is CorrectionState.ACCEPTED
        assert one.local.judge("small", STATEMENT).tier == 1
