"""Corrections are learnt, stay learnt, and are refused where they would do harm; with the real encoders."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from laneway.channels.intake import Intake, Limits
from laneway.classify.corrections import Corrections
from laneway.classify.learning import Case, Verdict, composed, learn
from laneway.classify.local import LocalClassifier
from laneway.classify.taxonomy import Flag, Label, Taxonomy, load
from laneway.domain.conversation import Incoming
from laneway.domain.judgement import Correction, CorrectionState, Event
from laneway.store import conversations, corrections, events, principals
from laneway.store.database import Database
from tests.classify import asking
from tests.classify.encoders import first_encoder

pytestmark = pytest.mark.timeout(300)

ASK = (*asking.ASK, "why is the site slow?")
CHANGE = (*asking.CHANGE, "install the update", "create a new user", "kill that process")
READ = (*asking.LOOK, "count the open files", "check the backup", "display the running jobs")
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
DECIDING = """
SELECT 1 FROM pg_locks WHERE locktype = 'advisory'
AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""
STATEMENT = "the cache of the shop could do with a flush"


def judged(taxonomy: Taxonomy, cache: Path, text: str) -> tuple[str, dict[str, bool]]:
    found = LocalClassifier({taxonomy.name: taxonomy}, cache, [first_encoder]).judge(taxonomy.name, text)
    return found.label, found.flags


def verdict_on(new: Case, cache: Path, *accepted: Case) -> Verdict:
    return learn(SMALL, accepted, new, [first_encoder()], cache)


def test_the_nearest_examples_are_known_once_they_are_prepared_even_if_asked_for_before(tmp_path: Path) -> None:
    classifier = LocalClassifier({"small": SMALL}, tmp_path / "cache" / "classify")
    assert classifier.nearest("small", "is the site slow", 1) == []
    classifier.remember("small")
    assert classifier.nearest("small", "is the site slow", 1) == [("why is the site slow?", "ask")]


def test_a_correction_changes_the_judgement_of_that_very_text(tmp_path: Path) -> None:
    new, other = Case(STATEMENT, "do", True), Case("who flushes the cache of the shop?", "ask")
    verdict = verdict_on(new, tmp_path, other)
    assert verdict.accepted, verdict.reason
    assert judged(composed(SMALL, [other, new]), tmp_path, STATEMENT) == ("do", {"confirm": True})
    # Where nobody said whether it is safe, that is still judged.
    unsaid = "delete the old users and stop the web server"
    assert judged(composed(SMALL, [Case(unsaid, "do")]), tmp_path, unsaid) == ("do", {"confirm": True})


def test_what_is_an_example_or_contradicts_one_is_decided_at_once_and_with_a_sentence(tmp_path: Path) -> None:
    accepted = Case(STATEMENT, "do", True)
    reasons = {
        Case("Delete the old logs!", "ask"): "“delete the old logs”, which is do (confirm)",
        Case("delete  the OLD logs", "do", False): "which is do (confirm)",
        Case("how full's the disk?", "do", True): "“how full is the disk?”, which is ask",
        Case(f"{STATEMENT}.", "ask"): STATEMENT,
    }
    for new, reason in reasons.items():
        verdict = verdict_on(new, tmp_path, accepted)
        assert not verdict.accepted
        assert reason in verdict.reason
    assert verdict_on(Case("Is the server up?", "ask"), tmp_path).accepted
    assert list(tmp_path.iterdir()) == [], "nothing was trained"


def test_corrections_that_spoil_the_built_in_examples_are_refused(tmp_path: Path) -> None:
    orders = ("restart the mail server", "delete the new logs", "install the package", "stop the web server",
              "create a new group", "kill that job", "show the first log lines", "list all groups",
              "print the memory usage", "count the open ports", "check the update", "display the running services",
              "restart the database", "remove the old backups")  # fmt: skip
    *poison, last = (Case(text, "ask") for text in orders)
    verdict = verdict_on(last, tmp_path, *poison)
    assert not verdict.accepted
    assert "of the built-in examples would be judged right" in verdict.reason


def test_a_classifier_that_was_given_new_examples_judges_by_them_at_once(tmp_path: Path) -> None:
    classifier = LocalClassifier({"small": SMALL}, tmp_path, [first_encoder])
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

    def __init__(self, db: Database, home: Path) -> None:
        self.db = db
        self.local = LocalClassifier({"small": load(home)["small"]}, home / "cache" / "classify", [first_encoder])
        self.corrections = Corrections(db, home, self.local, always=["small"])

    async def correct(self, text: str, label: str, flag: bool | None = None) -> Correction:
        async with self.db.transaction() as tx:
            owner = await principals.set_owner_key(tx, "lw_key")
        receipt = await Intake(self.db, [], Limits(1000, 0)).receive(
            Incoming("http", "main", f"{label}: {text}", text, owner)
        )
        async with self.db.transaction() as tx:
            message = await conversations.message(tx, receipt.message_id)
            assert message is not None
            return await self.corrections.take(tx, message, text, taxonomy="small", label=label, flag=flag, by=owner.id)

    async def withdraw(self, correction: Correction) -> None:
        async with self.db.transaction() as tx:
            await corrections.withdraw(tx, correction.id)

    async def decided(self, correction: Correction) -> Correction:
        while True:
            async with self.db.transaction() as tx:
                (found,) = await corrections.of_message(tx, correction.message_id)
            if found.state is not CorrectionState.PENDING:
                return found
            await asyncio.sleep(0.05)

    async def decides(self) -> None:
        """Returns once it is at the decision of a correction, which nobody else may be then."""
        while True:
            async with self.db.transaction() as tx:
                if await (await tx.execute(DECIDING)).fetchone():
                    return
            await asyncio.sleep(0.02)

    async def judges(self, text: str, label: str, tier: int) -> None:
        """Returns once the text is judged so."""
        while (found := self.local.judge("small", text)).tier != tier or found.label != label:
            await asyncio.sleep(0.05)

    async def told(self) -> list[Event]:
        async with self.db.transaction() as tx:
            return [e for e in await events.after(tx, events.START) if e.kind.startswith("classification.")]


@asynccontextmanager
async def school(db: Database, home: Path) -> AsyncIterator[School]:
    opened = School(db, home)
    task = asyncio.create_task(opened.corrections.keep_learning())
    try:
        yield opened
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_corrections_are_decided_in_the_background_survive_a_restart_and_can_be_withdrawn(
    db: Database, home: Path
) -> None:
    crashed = School(db, home)
    good = await crashed.correct(STATEMENT, "do", True)
    async with school(db, home) as first:
        accepted = await first.decided(good)
        assert (accepted.state, accepted.reason[:6]) == ("accepted", "Learnt")
        told = [(event.kind, event.body["reason"]) for event in await first.told()]
        assert told == [("classification.corrected", accepted.reason)]
        await first.judges(STATEMENT, "do", tier=0)
    async with school(db, home) as second:
        await second.judges(STATEMENT, "do", tier=0)
        before = crashed.local.judge("small", STATEMENT)
        await first.withdraw(good)
        await second.judges(STATEMENT, before.label, tier=1)
        assert second.local.judge("small", STATEMENT).top == before.top, "it is the built-in taxonomy again"
    assert (await first.told())[-1].kind == "classification.correction_withdrawn"


async def test_nothing_is_learnt_or_refused_because_of_what_was_withdrawn_before_or_meanwhile(
    db: Database, home: Path
) -> None:
    early = School(db, home)
    await early.withdraw(await early.correct(STATEMENT, "do", True))
    wrong = await early.correct(STATEMENT, "ask")
    async with db.transaction() as tx:
        await corrections.decide(tx, wrong.id, CorrectionState.ACCEPTED, "Learnt.")
    right = await early.correct(f"{STATEMENT}!", "do", True)
    async with school(db, home) as one:
        await one.decides()
        # A process of its own compares it with the wrong one, or is about to.
        await one.withdraw(wrong)
        assert (await one.decided(right)).state is CorrectionState.ACCEPTED
