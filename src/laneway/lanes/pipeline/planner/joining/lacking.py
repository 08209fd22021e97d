"""Rows without a partner: `customers who have no orders`, `products that were never shipped`, `not in the table`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from laneway.lanes.pipeline.planner.grammar import Chart, Edge, Rules
from laneway.lanes.pipeline.planner.joining.linking import paired
from laneway.lanes.pipeline.planner.joining.tables import Link
from laneway.lanes.pipeline.planner.names.nouns import only_some, rows_by, told_apart
from laneway.lanes.pipeline.planner.phrasing import phrases
from laneway.lanes.pipeline.planner.refusal import Unfit
from laneway.lanes.pipeline.planner.schema import Column, entity_words
from laneway.lanes.pipeline.planner.spelling import name_words, participle, root, stem

RULES = Rules()
RULES.words("who", ("that", "which", "who"))
RULES.words("none", phrases(
    """
    that have no matching | with no matching | without a matching | without matching | that have no | who have no |
    which have no |
    that has no | who has no | with no | without any | without a | without an | without | not in | that are not in |
    have no | has no |
    who are not in | missing from | that do not have any | who do not have any | that do not have a |
    who do not have a | do not have any |
    that do not have an | not matching any | with no match in | that have no match in | without a match in |
    which are not in |
    that do not have a single | who do not have a single | do not have a single | without a single | with no single |
    that do not appear in |
    who do not appear in | do not appear in | does not appear in | not appearing in | that do not exist in |
    do not exist in | that never appear in |
    never appear in | who never appear in | that are missing from | are missing from | not found in |
    that are not found in | not listed in |
    that are not listed in | do not show up in | that do not show up in | never show up in |
    never occur in | never occurs in |
    does not occur in | that never occur in | that have not got any |
    do not occur in | are not in |
    that lack any | lacking any | that never had a | who never had a | that never had any | who never had any |
    never had any | never had a |
    that got no | who got no | that did not get any | who did not get any | who did not have any |
    that did not have any | is not in | were not in |
    do not turn up in | that do not turn up in | absent from | that are absent from | with zero | who have zero |
    that have zero | have not got any |
    who made no | who placed no | that made no | placed no | made no | who never placed a | who never placed an |
    who never placed any | who never made a |
    that never made a | that never made any | who never made any | never made a | never placed an |
    who have never placed an | who have never made a |
    who have not placed any | who have not placed an | who have not made any | who did not place any |
    who did not place an | who have never had a |
    who have never placed any | not represented in | that are not represented in | which do not have any |
    which do not have a | which never had any | that have never had a | that never had an | who never had an |
    never had an | never shows up in | does not show up in | never appears in
    """
))  # fmt: skip
RULES.says(
    "none",
    "[that|who|which] (have|has|had|with) no [matching|corresponding|related] <_line> in ;"
    " without [a|an|any] [matching|corresponding|related] <_line> in ;"
    " [that|who|which] (do not have|does not have|did not have) [a|an|any] [matching|corresponding|related] <_line> in",
    "none",
)
RULES.words("line", phrases("row | rows | record | records | entry | entries | line | lines | partner | counterpart"))


@RULES.rule("anti", "<_none> <table> [<_noun>|table] [at all|yet|whatsoever|so far] [<_pause>] [<onkey>|<bracketed>]")
def lacking(chart: Chart, right: str, *keys: Any) -> Link:
    """`customers who have no orders`, `parcels that don't have a single meter reading`."""
    return Link("anti", "", right, next((one for one in keys if isinstance(one, dict)), None))


@RULES.rule(
    "anti",
    "<_none> [matching|single] <partner> [at all|yet|whatsoever] (in|among|within) <table> [<_noun>|table]"
    " [at all|yet] [<_pause>] [<onkey>|<bracketed>]",
)
def none_in(chart: Chart, partner: str, right: str, *keys: Any) -> Link | None:
    """`have no order in the sales table`: of a noun for the rows of that table."""
    schema = chart.tables[right]
    found = rows_by(partner, schema)
    keyed = any(one.unique and one.identifies and stem(partner) in entity_words(one) for one in schema.columns)
    told = keyed or (found is not None and found[0].told)
    if not told or only_some(partner, schema) or told_apart(stem(partner), schema):
        return None
    return Link("anti", "", right, next((one for one in keys if isinstance(one, dict)), None))


@RULES.finder("partner")
def partner(chart: Chart, at: int) -> Iterator[Edge]:
    """A noun, for the rows of some table."""
    if chart.text(at).isalpha():
        yield Edge(at + 1, chart.text(at))


RULES.words("pause", (",", "-", ";", "?", "."))


@RULES.rule(
    "anti",
    "[<_who>] [have|has|had|did|do|does] (never|not) [yet] <_doing> (a|an|any|one|a single|"
    "any of the) <table> [at all|yet|so far] [<_pause>] [<onkey>|<bracketed>] ; [<_who>] [have|has|"
    "had] <_doing> no <table>",
)
def never_did(chart: Chart, right: str, *keys: Any) -> Link:
    """`observers who never reported a sighting`: whoever did that would have one."""
    return Link("anti", "", right, next((one for one in keys if isinstance(one, dict)), None))


RULES.words("doing", (
    "place", "placed", "make", "made", "have", "had", "report", "reported", "record", "recorded", "submit",
    "submitted", "file", "filed", "open", "opened",
    "raise", "raised", "write", "written", "wrote", "receive", "received", "buy", "bought", "book", "booked",
    "take", "taken", "took", "give", "given", "gave", "send",
    "sent", "attend", "attended", "get", "got", "log", "logged", "post", "posted", "create", "created", "register",
    "registered", "issue", "issued", "see", "seen"))  # fmt: skip


@RULES.rule(
    "bracketed",
    "{ (by|via|on|using|linked by|linked via|joined on|joined by|link is|the link is|link|matching on|matched on|"
    "matched by|match on|match by|key is|the key is|key|key :|join on|join by|joined via|through|based on|"
    "going by) <key> } ; (going by|judging by|linked by|matched by|matched on|linked via|based on|by|on|via|"
    "using|use|check by|compare by|compare|match by|match on|join on|look at) <key>",
)
def bracketed(chart: Chart, keys: dict[str, Column]) -> dict[str, Column]:
    return keys


@RULES.rule("bracketed", "{ <key> [is the key|is key|as key] }")
def bare_key(chart: Chart, keys: dict[str, Column]) -> dict[str, Column]:
    """`without orders (customer_id)`: a key of both, and no column to be shown."""
    if len(keys) < 2 or not all(column.identifies for column in keys.values()):
        raise Unfit
    return keys


@RULES.rule(
    "bracketed",
    "{ [the] (same|shared|common|both have|both with|they share|sharing|matching) [key|column] <key> } ;"
    " { <key> [is] (in both|in common|shared|in both tables) }",
)
def shared_key(chart: Chart, keys: dict[str, Column]) -> dict[str, Column]:
    """`using orders and customers (same customer_id)`."""
    if len(keys) < 2:
        raise Unfit
    return keys


@RULES.rule("bracketed", "{ <key> (=|==|is|equals|matches) <key> }")
def bracketed_pair(chart: Chart, one: dict[str, Column], other: dict[str, Column]) -> dict[str, Column]:
    """`(hostname = host)`: each table has its own name for it."""
    return paired(one, other)


@RULES.rule(
    "anti",
    "[<_who>] [carry|carrying|have|has|with|belong to|belongs to|belonging to|contain|"
    "use|using|refer to|reference|point to|whose|"
    "where the] <key> [that|which] (does not exist in|is not in|is missing from|is not found in|does not appear in|"
    "is unknown in|is not listed in|cannot be found in|can not be found in|does not occur in|has no match in|"
    "do not exist in|are not in|is unknown to|is absent from|not in|never shows up in|"
    "never appears in|never occurs in|does not show up in|does not match any|matches no|"
    "matches none of) <table> [<_noun>] ; whose <key> (does not exist in|is not in|is missing from|is not found in|"
    "does not appear in|does not occur in|is not listed in|has no match in|matches no|never shows up in|"
    "never appears in|never occurs in|does not show up in) <table> [<_noun>]",
)
def unknown_key(chart: Chart, keys: dict[str, Column], right: str) -> Link:
    """`carry a sku that doesn't exist in products`."""
    return Link("anti", "", right, keys if len(keys) > 1 else None)


@RULES.rule(
    "anti",
    "[<_who>] [were|was|have|has|had|are|is|did|do] (never|not) [yet] [been|get|got] <undone> [yet|at all|so far|"
    "anything|anything yet|anything at all|anyone|any] [<_pause>] [<onkey>|<bracketed>]",
)
def never(chart: Chart, right: str, *keys: Any) -> Link:
    """`products that were never shipped`: of a table that is called after the verb."""
    return Link("anti", "", right, next((one for one in keys if isinstance(one, dict)), None))


@RULES.finder("undone")
def undone(chart: Chart, at: int) -> Iterator[Edge]:
    """A verb that one of the tables is called after."""
    verb = chart.text(at)
    if not participle(verb):
        return
    whole = root(verb) + chart.text(at + 1)
    for name in chart.tables:
        if chart.text(at + 1) and name_words(name)[0][-1:] == (whole,):
            yield Edge(at + 2, name)
            return
    nouns = {name: name_words(name)[0][-1] for name in chart.tables if name_words(name)[0]}
    found = (
        [name for name, noun in nouns.items() if root(noun) == root(verb)]
        or [name for name, noun in nouns.items() if root(verb) in map(root, _DONE.get(noun, ()))]
        or [name for name, schema in chart.tables.items() if any(_dates(column, verb) for column in schema.columns)]
    )
    if len(found) == 1:
        yield Edge(at + 1, found[0])


_DONE = {
    "loan": ("borrowed", "lent"),
    "order": ("bought", "purchased"),
    "purchase": ("bought",),
    "sale": ("sold",),
    "trip": ("driven",),
}
"""What was done where there is such a row, where the verb is another word."""


def _dates(column: Column, verb: str) -> bool:
    """Whether the column says when that was done."""
    return (
        column.kind == "date"
        and not column.nulls
        and any(mark.role == "core" and root(mark.word) == root(verb) for mark in column.marks)
    )
