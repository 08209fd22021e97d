"""One sentence in, one change or one refusal out."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from laneway.lanes.workflow.sentences import changing, limits, pausing, rules, settings, steps, times
from laneway.lanes.workflow.sentences.draft import Draft, Known, NotPlanned, Refusal
from laneway.lanes.workflow.sentences.words import LONGEST, negated, tidied

Family = Callable[[str, Known, str | None], Draft | None]
FAMILIES: tuple[Family, ...] = (
    times.made_to_last, changing.timed_out, changing.retried, changing.renamed, changing.redirected, settings.set_to,
    limits.limited, pausing.paused, steps.removed, steps.added, times.scheduled, rules.rule,
)  # fmt: skip
"""Tried in this order; the first that reads the whole sentence counts."""

EXAMPLES = (
    "Say it like “always e-mail me when the price drops below 100”, “add a notification step after processing”, "
    "“remove the step fetch”, “change the timeout of fetch to 30 s” or “run report every day at 9”."
)
_NAMED = (
    re.compile(r"in (?:the )?workflow (?P<tag>[\w\"`.-]+),? (?P<rest>.+)", re.IGNORECASE),
    re.compile(r"in (?:the )?(?P<tag>[\w\"`.-]+) workflow,? (?P<rest>.+)", re.IGNORECASE),
    re.compile(r"(?P<rest>.+?),? (?:in|of|to|from) (?:the )?workflow (?P<tag>[\w\"`.-]+)", re.IGNORECASE),
    re.compile(r"(?P<rest>.+?),? (?:in|of|from) (?:the )?(?P<tag>[\w\"`.-]+) workflow", re.IGNORECASE),
)
_LASTING = re.compile(r"make (?:this|that|it) permanent|yes,? (?:make (?:this|that|it) permanent)", re.IGNORECASE)


def planned(said: str, known: Known) -> Draft | Refusal:
    """The change that the sentence asks for; what is not understood word by word is refused."""
    if len(said) > LONGEST:
        return Refusal("That is too long to be understood without a model.", EXAMPLES)
    line = tidied(said)
    if negated(line):
        return Refusal("What shall not be is not understood without a model.", EXAMPLES)
    if line.endswith("?"):
        return Refusal("That is a question, and a question changes nothing.", EXAMPLES)
    if known.offer is not None and known.offer.get("plan") is None and _LASTING.fullmatch(line):
        # What was offered is a request that may have been meant to last; now it is known that it was.
        return planned(str(known.offer.get("prompt", "")), replace(known, offer=None))
    try:
        return _read(line, known) or Refusal("That is not understood as a change of a workflow.", EXAMPLES)
    except NotPlanned as error:
        return error.refusal


def _read(line: str, known: Known) -> Draft | None:
    rest, until = times.limited(line, known)
    for text, named in [*_with_name(rest, known), (rest, None)]:
        for family in FAMILIES:
            found = family(text, known, named)
            if found is not None:
                return replace(found, valid_until=until)
    return None if until is None else _read_whole(line, known)


def _read_whole(line: str, known: Known) -> Draft | None:
    """The sentence with its time, where the time belongs to what it says."""
    return next((found for family in FAMILIES if (found := family(line, known, None)) is not None), None)


def _with_name(line: str, known: Known) -> list[tuple[str, str]]:
    """The sentence without the workflow it names, and that name, where it is one."""
    found = [match for shape in _NAMED if (match := shape.fullmatch(line))]
    tags = {tag.lower() for tag in known.workflows}
    return [(one["rest"], one["tag"].strip('"`')) for one in found if one["tag"].strip('"`').lower() in tags]
