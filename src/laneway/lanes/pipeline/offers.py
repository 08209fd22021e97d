"""What a one-off request offers to become: a workflow, drafted and ready for whoever says "make this permanent"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

SAY = "make this permanent"
_WORD = re.compile(r"[a-z0-9]+")
_SMALL = frozenset({"the", "a", "an", "me", "of", "by", "to", "and", "show", "give", "get", "please", "with", "for"})


def offer(
    prompt: str, plan: Mapping[str, Any] | None, why: str, *, zone: str = "UTC", dated: bool = False
) -> dict[str, Any] | None:
    """A workflow that does the same again: `document` is its draft, checked and approved before anything is kept.

    With rows of its own to fetch it can run by the clock, in this zone; without, it works on the tables it is started
    with. A plan that holds for one day only (`dated`) is made anew of the words in each run; None where that cannot be.
    """
    fetches = plan is not None and any(step.get("do") == "http_request" for step in plan.get("steps", ())[:1])
    if dated and fetches:
        return None
    tag = tag_of(prompt)
    found: dict[str, Any] = {"kind": "workflow", "say": SAY, "why": why, "prompt": prompt, "tag": tag, "plan": plan}
    if plan is None:
        return found
    config: dict[str, Any] = {"prompt": prompt} if dated else {"plan": dict(plan)}
    config |= {} if fetches else {"tables": "$input.tables"}
    trigger = {"type": "cron", "schedule": "0 8 * * *", "timezone": zone} if fetches else {"type": "manual"}
    document = {
        "nodes": [{"id": "rows", "type": "pipeline", "config": config}],
        "edges": [],
        "metadata": {"name": tag, "description": prompt[:200]},
        "triggers": [trigger],
    }
    return found | {"document": document}


def offered(found: Mapping[str, Any], times: int = 0) -> str:
    """The offer as a sentence."""
    asked = f"You have asked this {times} times. " if times else "If this is meant to last: "
    document = found.get("document") or {}
    daily = any(trigger.get("type") == "cron" for trigger in document.get("triggers", ()))
    what = "do it every morning as a workflow" if daily else "keep it as a workflow"
    return f"{asked}Say “{SAY}” and I will {what}, after you have seen it."


def tag_of(prompt: str) -> str:
    """A short name for it, of its own words."""
    words = [word for word in _WORD.findall(prompt.lower()) if word not in _SMALL]
    return "-".join(words[:4])[:40] or "request"
