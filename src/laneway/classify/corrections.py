"""Takes corrections, decides them in the background, and has the local classifier judge by what was accepted.

Training runs in processes of their own, so that this one keeps answering. What was accepted is in the database: it
is part of the taxonomy at every start, and reaches every process that judges.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Any
from uuid import UUID

from laneway.classify.learning import Case, Verdict, composed
from laneway.classify.local import LocalClassifier
from laneway.classify.taxonomy import Taxonomy, load
from laneway.domain.conversation import Author, Message
from laneway.domain.judgement import Correction, CorrectionState
from laneway.engine.faults import ended
from laneway.errors import BadInput, Unavailable
from laneway.store import corrections
from laneway.store.database import CORRECTIONS, Connection, Database

ALWAYS = ("message", "route", "lane")
"""The taxonomies that messages are judged by: they are loaded from the start."""

PAUSE_SECONDS = 5.0
_log = logging.getLogger("laneway.classify")


class Corrections:
    """What people said about judgements, and what was made of it."""

    def __init__(
        self,
        db: Database,
        home: Path,
        local: LocalClassifier | None,
        always: Sequence[str] = ALWAYS,
        *,
        asks_model: bool = False,
    ) -> None:
        self._db, self._home, self._local, self._always, self._asks_model = db, home, local, always, asks_model
        self._learnt: dict[str, list[Case]] = {}

    @cached_property
    def _taxonomies(self) -> Mapping[str, Taxonomy]:
        return load(self._home)

    async def take(
        self, tx: Connection, message: Message, text: str, *, taxonomy: str, label: str, flag: bool | None, by: UUID
    ) -> Correction:
        """What was judged as `text` is corrected: that is stored now and decided later."""
        self.check(message, taxonomy, label, flag)
        return await corrections.add(tx, message, taxonomy=taxonomy, text=text, label=label, flag=flag, principal_id=by)

    def check(self, message: Message, taxonomy: str, label: str, flag: bool | None) -> None:
        """Returns only if such a correction means something."""
        known = self._taxonomies.get(taxonomy)
        if known is None:
            names = ", ".join(self._taxonomies)
            raise BadInput(f"There is no taxonomy `{taxonomy[:60]}`.", hint=f"There are {names}.")
        if label not in known.names:
            raise BadInput(f"`{label[:60]}` is no label of {taxonomy}.", hint=f"Say one of {', '.join(known.names)}.")
        if flag is not None and not any(one.applies_to == label for one in known.flags):
            raise BadInput(f"Only some labels can need a confirmation; {label} cannot.", hint="Leave it out.")
        if message.author is not Author.USER or not message.text.strip():
            raise BadInput(f"Message {message.id} was not judged.", hint="Correct one that somebody wrote to Laneway.")

    async def keep_learning(self) -> None:
        """Until it is cancelled, corrections are decided as they come and judgements follow what was accepted."""
        if self._local is None:
            return
        while not ended():
            try:
                async with aclosing(self._db.listen(CORRECTIONS)) as told:
                    async for _ in told:
                        if ended():
                            return
                        await self._follow(self._local)
                        await self._decide(self._local)
            except Unavailable:
                await asyncio.sleep(PAUSE_SECONDS)

    async def _decide(self, local: LocalClassifier) -> None:
        """What was pending is decided, unless another process is at it."""
        async with self._db.transaction() as lock:
            if not await corrections.alone(lock):
                return
            while (new := await self._next()) is not None:
                known = self._learnt.get(new.taxonomy, [])
                verdict = await self._verdict(new, known)
                if verdict is None:
                    return
                await self._settle(new, known, verdict)
                await self._follow(local)

    async def _settle(self, new: Correction, known: list[Case], verdict: Verdict) -> None:
        """The verdict is stored, unless what it was reached from has changed: then `new` is still pending."""
        state = CorrectionState.ACCEPTED if verdict.accepted else CorrectionState.REFUSED
        async with self._db.transaction() as tx:
            accepted = self._usable(await corrections.accepted(tx, new.taxonomy))
            if accepted.get(new.taxonomy, []) == known:
                await corrections.decide(tx, new.id, state, verdict.reason)

    async def _next(self) -> Correction | None:
        async with self._db.transaction() as tx:
            return await corrections.next_pending(tx)

    async def _verdict(self, new: Correction, known: list[Case]) -> Verdict | None:
        if new.taxonomy not in self._taxonomies or new.label not in self._taxonomies[new.taxonomy].names:
            return Verdict(False, f"There is no label {new.label} in a taxonomy {new.taxonomy} any more.")
        told = {
            "taxonomy": new.taxonomy,
            "accepted": [asdict(case) for case in known],
            "new": asdict(Case(new.text, new.label, new.flag)),
        }
        said = await self._apart("learning", [], told)
        return None if said is None else Verdict(**json.loads(said))

    async def _follow(self, local: LocalClassifier) -> None:
        """The local classifier judges by all that was accepted; until its first training the rules do."""
        async with self._db.transaction() as tx:
            accepted = self._usable(await corrections.accepted(tx))
        # Of a taxonomy whose last correction was withdrawn, only what was learnt before knows.
        names = accepted.keys() | self._learnt.keys()
        changed = sorted(name for name in names if accepted.get(name) != self._learnt.get(name))
        first = [name for name in self._always if not local.ready(name)]
        wanted = {name for name in changed if local.ready(name) or name in first}
        wanted |= {name for name in first if not local.at_hand(name)}
        told = {name: [asdict(case) for case in cases] for name, cases in accepted.items()}
        if wanted:
            await self._apart("prepare", sorted(wanted), told)
        for name in changed:
            await asyncio.to_thread(local.replace, composed(self._taxonomies[name], accepted.get(name, [])))
        self._learnt = accepted
        await asyncio.to_thread(local.warm, first, 1)
        if ALWAYS[0] in first:
            await asyncio.to_thread(local.listen)
        if first and self._asks_model:
            # A model that is asked is shown the nearest examples; nobody waits for them.
            await self._apart("prepare", list(self._always[:1]), told)

    def _usable(self, accepted: list[Correction]) -> dict[str, list[Case]]:
        """What was accepted, by taxonomy; labels that are gone are left out."""
        cases: dict[str, list[Case]] = {}
        for one in accepted:
            if one.taxonomy in self._taxonomies and one.label in self._taxonomies[one.taxonomy].names:
                cases.setdefault(one.taxonomy, []).append(Case(one.text, one.label, one.flag))
        return cases

    async def _apart(self, module: str, names: list[str], told: dict[str, Any]) -> bytes | None:
        """What a process of its own printed that was told this; None if it failed, which is logged."""
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-m", f"laneway.classify.{module}", str(self._home), *names,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        try:
            said, _ = await child.communicate(json.dumps(told).encode())
        finally:
            if child.returncode is None:
                child.kill()
                await child.wait()
        if child.returncode:
            _log.warning("Training (%s) ended with exit code %s.", module, child.returncode)
            return None
        return said
