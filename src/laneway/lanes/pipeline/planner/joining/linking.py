"""Words that join tables: `join orders with customers on id`, `(linked by emp_id)`, `with the customer's name`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from laneway.lanes.pipeline.planner.grammar import Chart, Edge, Rules
from laneway.lanes.pipeline.planner.joining.tables import Link, bears
from laneway.lanes.pipeline.planner.phrasing import phrases
from laneway.lanes.pipeline.planner.refusal import Unfit
from laneway.lanes.pipeline.planner.schema import Column
from laneway.lanes.pipeline.planner.spelling import name_words, stem

RULES = Rules()
RULES.words("join", phrases(
    "join | merge | combine | match | link | connect | put together | bring together | tie together | joining |"
    " linking |"
    " matching | combining | connecting | merging | inner join | after joining | after matching | after linking |"
    " cross reference |"
    " look up | match up | hook up | pair | pairing | relate | tie | attach | by joining | by matching | by linking |"
    " when joining"
))  # fmt: skip
RULES.words("left", phrases("left join | left joining | left joined with | left joined to | left join with"))
RULES.words("joined", phrases(
    "joined with | joined to | merged with | combined with | matched with | matched to | matched against |"
    " with matching |"
    " linked to | linked with | inner joined with | connected to | together with | looked up in"
))  # fmt: skip
RULES.words(
    "both",
    phrases(
        "the two | both | them | both tables | the tables | the two tables | these | these two | these tables |"
        " the two of them | the data | everything"
    ),
)
RULES.words("with", phrases("with | and | to | against | on to | onto | into | , | in | from | &"))
RULES.words("on", phrases(
    "on the | on | by the | by | using the | using | via the | via | over | matching on | matching | through the |"
    " through |"
    " based on | where the | with the | going by | on their | by their | by means of | along | keyed on | keyed by |"
    " on matching"
))  # fmt: skip
RULES.words("noun", phrases("table | data | list | rows | column | field | key | columns | tables | records | one"))
RULES.words("shared", phrases("same | common | shared | their | respective"))


@RULES.rule("onkey", "<_on> [<_shared>] <key> [<_noun>] ; <_on> [<_shared>] <key> (=|==|equals|and|to) <key>")
def onkey(chart: Chart, *keys: dict[str, Column]) -> dict[str, Column]:
    return keys[0] if len(keys) == 1 else paired(*keys)


def paired(one: dict[str, Column], other: dict[str, Column]) -> dict[str, Column]:
    """The two columns that belong together, each of its own table; Unfit if both are of one."""
    for left, column in one.items():
        for right, theirs in other.items():
            if left != right:
                return {left: column, right: theirs}
    raise Unfit


@RULES.rule(
    "link",
    "<_join> <table> [<_noun>] <_with> <table> [<_noun>] [<onkey>] ; <table> <_joined> <table> [<onkey>]",
    cost=-0.2,
)
def joins(chart: Chart, left: str, right: str, *keys: dict[str, Column]) -> Link:
    """`join orders with customers on customer_id`."""
    if left == right:
        raise Unfit
    return Link("inner", left, right, keys[0] if keys else None)


@RULES.rule(
    "link",
    "(using|use|with|from|over|across|given|taking|based on) [both] <table> [<_noun>] <_with> <table> [<_noun>] [,]"
    " (<onkey>|<bracketed>|<linked>)",
    cost=-0.2,
)
def using_both(chart: Chart, left: str, right: str, keys: dict[str, Column]) -> Link:
    """`using orders and customers (same customer_id), …`: only with the key, since nothing else says that they join."""
    return joins(chart, left, right, keys)


@RULES.rule("linked", "(joined|linked|matched|connected|merged|combined|related) <onkey>")
def linked(chart: Chart, keys: dict[str, Column]) -> dict[str, Column]:
    """`…, linked by customer_id`."""
    return keys


@RULES.rule(
    "compared",
    "(compare|comparing|check|checking|match|matching|matched|hold) <table> [<_noun>]"
    " (with|to|and|against|versus|vs) <table> [<_noun>] [<onkey>|<bracketed>] ;"
    " (compare|comparing|check|checking|match|matching) [<_both>] [with|to|against] [<table>] [<_noun>] <onkey>",
)
def compared(chart: Chart, *said: Any) -> Link:
    """`compare orders with customers on customer_id`: it joins nothing, but says how a partner is looked for."""
    names = [one for one in said if isinstance(one, str)]
    keys = next((one for one in said if isinstance(one, dict)), None)
    if len(set(names)) < len(names):
        raise Unfit
    return Link("compare", names[0] if len(names) > 1 else "", names[-1] if names else "", keys)


@RULES.rule("link", "<_left> <table> [<_with> <table>] [<onkey>] ; <_left> <table> [<_noun>] [<onkey>]")
def left_joins(chart: Chart, *said: Any) -> Link:
    names = [one for one in said if isinstance(one, str)]
    keys = next((one for one in said if isinstance(one, dict)), None)
    return Link("left", names[0] if len(names) > 1 else "", names[-1], keys)


@RULES.rule(
    "link",
    "<_join> [with|to|in] <table> [<_noun>] [<onkey>] ; <_joined> <table> [<_noun>] [<onkey>]",
    cost=0.1,
)
def joins_to(chart: Chart, right: str, *keys: dict[str, Column]) -> Link:
    """`join with drivers on driver_ref`."""
    return Link("inner", "", right, keys[0] if keys else None)


@RULES.rule(
    "link",
    "<_join> <_both> [<_noun>] [together|up] [<onkey>] ; <_join> <onkey> ; (using|use|with|via|through|"
    "by) <key> to <_join> <_both> ; (using|use|with|via|through) <key> to <_join> <table> (and|with|to) <table> ; "
    "(using|use|by|via|through|on|going by|matched by|matched on|linked by|linked via|linked on|joined on|joined by|"
    "link is|linked through|matching on|matching by|match on|match by|connected by|connected via|key is|key|join on|"
    "join by|based on) <key> ; { (by|via|on|using|linked by|linked via|linked on|joined on|joined by|link is|"
    "the link is|link|linked through|matching on|matched on|matched by|match on|match by|connected by|connected via|"
    "key is|the key is|key|key :|join on|join by|joined via|through|they share|both have|matching|match is|join key|"
    "join key is|link via|link by|link on|join via|join through|based on) <key> }",
    cost=0.2,
)
def by_key(chart: Chart, *said: Any) -> Link:
    """`join the two on ticketId`, `(linked by emp_id)`, `using parcel_id to connect them`."""
    keys = next((one for one in said if isinstance(one, dict)), None)
    if keys is not None and len(keys) < 2:
        raise Unfit
    return Link("inner", keys=keys)


@RULES.rule("link", "{ <key> (=|==|is|equals|matches) <key> } ; where <key> (=|==|equals|matches) <key>", cost=0.1)
def by_pair(chart: Chart, one: dict[str, Column], other: dict[str, Column]) -> Link:
    """`(host is the hostname)`."""
    return Link("inner", keys=paired(one, other))


@RULES.rule(
    "link",
    "(using|use|via|through|by|with) <key> to (look up|find|get|fetch|add|bring in|pull in) <nothing>",
    cost=0.1,
)
def to_look_up(chart: Chart, keys: dict[str, Column], said: str) -> Link:
    """`using emp_id to look up the full name`: what is looked up is named again where it is used."""
    if len(keys) < 2:
        raise Unfit
    return Link("inner", keys=keys)


@RULES.finder("nothing")
def nothing(chart: Chart, at: int) -> Iterator[Edge]:
    """Columns of a table, up to a comma."""
    end = at
    while end < chart.size and chart.text(end) not in (",", ":", ".", ";"):
        end += 1
    named = " ".join(chart.text(place) for place in range(at, end) if chart.text(place) not in ("the", "and", "'s"))
    if at < end < chart.size and all(_bears_any(chart, stem(word)) for word in named.split()):
        yield Edge(end, named)


def _bears_any(chart: Chart, word: str) -> bool:
    return any(bears(schema, word) for schema in chart.tables.values()) or any(
        word in name_words(n)[0] for n in chart.tables
    )


@RULES.rule(
    "added",
    "(with|add|including|include|plus|and|together with|along with|show|attach|adding|bring in|"
    "pull in) <table> 's <theirs> [to [the|all|every|each] <table>] [<onkey>] ; (with|add|including|include|plus|"
    "together with|along with|attach|adding|bring in|pull in) <table> <theirs> [to [the|all|every|"
    "each] <table>] [<onkey>] ; (add|attach|bring in|pull in|include) <theirs> (from|of) <table> [table] [to [the|"
    "all|every|each] <table>] [<onkey>]",
)
def added(chart: Chart, *said: Any) -> Link:
    """`orders with the customer's name`, `add the customer's name and city to orders`."""
    names = [one for one in said if isinstance(one, str)]
    shown = next(one for one in said if isinstance(one, tuple))
    keys = next((one for one in said if isinstance(one, dict)), None)
    right = shown[0]
    if names[0] != right:
        raise Unfit
    return Link("left", names[1] if len(names) > 1 else "", right, keys, shown[1])
