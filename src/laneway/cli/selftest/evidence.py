"""What the crash test proves: the database's story held against the counting server's log."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass

from laneway.channels.delivery import SENT_AGAIN
from laneway.cli.selftest.counting import Call
from laneway.store import proof
from laneway.store.database import Database


@dataclass(frozen=True)
class Verdict:
    """Figures of one crash test; those from `lost` to `untold` must be zero."""

    messages: int
    lost: int
    repeated: int
    replies_missing: int
    replies_doubled_unmarked: int
    untold: int
    """Effects that did not happen exactly once, as far as the outside saw, and that nobody was told of."""
    calls_cut: int
    calls_unstored: int
    effects_uncertain: int
    replies_marked: int
    model_calls: int
    tool_calls: int
    deliveries: int

    @property
    def good(self) -> bool:
        return not any((self.lost, self.repeated, self.replies_missing, self.replies_doubled_unmarked, self.untold))


async def weigh(db: Database, calls: list[Call], accepted: list[str]) -> Verdict:
    """Everything that was accepted, compared with everything the outside world saw."""
    done, used, replies = await _stored(db)
    async with db.transaction() as tx:
        effects = await proof.effects(tx)
    by_key: dict[tuple[str, str], list[Call]] = defaultdict(list)
    for call in calls:
        by_key[call.kind, call.key].append(call)
    delivered = {key: seen for (kind, key), seen in by_key.items() if kind == "deliver"}
    known = {item for item, state, event in effects if event or (state, len(by_key["tool", item])) == ("done", 1)}
    reply_ids = [replies[item] for item in accepted if item in replies]
    return Verdict(
        messages=len(accepted),
        lost=sum(1 for item in accepted if item not in done),
        repeated=sum(_repeated(kind, key, seen, used) for (kind, key), seen in by_key.items()),
        replies_missing=sum(1 for item in accepted if replies.get(item) not in delivered),
        replies_doubled_unmarked=sum(_unmarked(delivered.get(reply, [])) for reply in reply_ids),
        untold=len(set(accepted) - known),
        calls_cut=sum(1 for call in calls if not call.ended),
        calls_unstored=sum(_unstored(seen) for (kind, _), seen in by_key.items() if kind == "model"),
        effects_uncertain=sum(1 for _, state, _ in effects if state == "uncertain"),
        replies_marked=sum(1 for seen in delivered.values() for call in seen if call.text.startswith(SENT_AGAIN)),
        model_calls=sum(1 for call in calls if call.kind == "model"),
        tool_calls=sum(1 for call in calls if call.kind == "tool"),
        deliveries=sum(1 for call in calls if call.kind == "deliver"),
    )


def _repeated(kind: str, key: str, seen: list[Call], used: dict[str, str]) -> int:
    """Calls made although an earlier one's outcome was stored.

    A model call's stored outcome is the one whose nonce was used afterwards; any call after it is a repeat. The
    tool must not be repeated at all: it is the kind of effect that is asked about instead.
    """
    if kind == "tool":
        return len(seen) - 1
    if kind == "model" and key in used:
        nonces = [call.nonce for call in seen]
        return len(nonces) - 1 - nonces.index(used[key])
    return 0


def _unstored(seen: list[Call]) -> int:
    """Model calls that ended on the server's side and whose caller died before it could store the outcome."""
    return max(0, sum(1 for call in seen if call.ended) - 1)


def _unmarked(seen: list[Call]) -> int:
    return max(0, sum(1 for call in seen if not call.text.startswith(SENT_AGAIN)) - 1)


async def _stored(db: Database) -> tuple[set[str], dict[str, str], dict[str, str]]:
    """From the database: items done, the nonce each model turn's stored outcome has, reply ids."""
    async with db.transaction() as tx:
        endings = await proof.endings(tx)
        arguments = await proof.tool_arguments(tx)
    done, used, replies = set(), {}, {}
    for ending in endings:
        item = ending.text.split()[-1]
        if ending.status == "done":
            done.add(item)
        if ending.reply_id is not None and ending.reply is not None:
            replies[item] = ending.reply_id
            nonce = re.search(r"nonce (\w+)", ending.reply)
            if nonce:
                used[f"{item}/1"] = nonce[1]
    used |= {f"{given['item']}/0": given["nonce"] for given in arguments}
    return done, used, replies
