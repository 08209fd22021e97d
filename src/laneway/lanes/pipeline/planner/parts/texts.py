"""Conditions on texts: `from Paris`, `status is shipped`, `name contains "air"`, `with refund in the subject`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from laneway.lanes.pipeline.planner.grammar import Chart, Edge, Rules
from laneway.lanes.pipeline.planner.names.columns import fits, listed
from laneway.lanes.pipeline.planner.names.values import Found
from laneway.lanes.pipeline.planner.parts.naming import Held
from laneway.lanes.pipeline.planner.parts.pieces import Test, compared
from laneway.lanes.pipeline.planner.phrasing import meanings, words
from laneway.lanes.pipeline.planner.reading import Token
from laneway.lanes.pipeline.planner.refusal import Refused, Unfit
from laneway.lanes.pipeline.planner.schema import Column, Schema
from laneway.lanes.pipeline.planner.spelling import near
from laneway.lanes.pipeline.planner.words.small import FILLERS

RULES = Rules()
RULES.words("lead", {word: word for word in ("from", "to", "in", "at", "by", "on", "for", "with", "of", "into", "via",
                                             "under", "within", "inside", "among", "through", "as",
                                             "using")})  # fmt: skip
RULES.words(
    "lead",
    meanings(
        """
        from: coming from | come from | comes from | leaving from | leaving | leave from | leaves from |
            departing from | depart from | departs from | out of | starting from | starting in | start in |
            originating in | flying from | going from | leave | departing
        to: going to | go to | goes to | arriving in | arriving at | arrive in | arrives in | heading to | headed to |
            bound for | flying to | fly to | flies to | ship to | leading to | travelling to | traveling to |
            heading for
        in: based in | located in | living in | live in | lives in | working in | work in | works in | sold in |
            situated in | stored in | kept in | held in | held at | work at | works at | working at | work for |
            works for | listed under | found in | playing for | play for | plays for | played for | booked at |
            registered in | stationed in | stationed at | parked at | enrolled in | taking place in | who work in |
            belonging to | belong to | belongs to | part of | filed under | placed in | staying at | staying in |
            housed in | located at | flying | bearing | sailing under | running on | made of | made from |
            flagged as | marked as | listed as | labelled as | tagged as | recorded as | classified as | classed as
        """
    ),
    cost=0.05,
)
_ORIGIN = words("origin from source pickup sender")
_TARGET = words("destination to target recipient receiver dropoff env environment")
_PLACE = words("city airport station town country port code place location zone hub terminal")
SMALL = FILLERS | words("not no with without or and under over above below")


def equals(column: Column, found: tuple[Found, ...], *, negated: bool = False) -> Test:
    """The column holds one of the values, in whatever case they are written; or none of them."""
    forms = [form for one in found for form in _forms(column, one)]
    if negated and (column.nulls or column.blanks):
        raise Refused(
            f"Some rows have no {column.name}, and they may or may not be meant by `not`.",
            f"Filter them first: with a {column.name}, then …",
        )
    if len(forms) == 1:
        where = compared(column.name, "!=" if negated else "==", forms[0], ignore_case=True)
    else:
        where = compared(column.name, "not_in" if negated else "in", forms)
    return Test(where, texts=True, negated=negated)


def _forms(column: Column, one: Found) -> tuple[str, ...]:
    forms = column.values.get(one.said) or one.columns[0].values[one.said]
    if one.quoted is None or len(forms) == 1:
        return forms
    exact = tuple(form for form in forms if form == one.quoted)
    if exact and len(exact) < len(forms):
        raise Refused(
            f"{column.name} holds `{one.quoted}` written in several ways.", "Leave the quotes out to have all."
        )
    return forms


def _said(held: Held) -> str:
    return held.found[0].said


def chosen(held: Held, lead: str, schema: Schema) -> Column:
    """The one column that is meant by values behind this word; Refused if several or the wrong ones hold them."""
    columns = list(held.columns)
    origins, targets = directed(schema, _ORIGIN, "departure"), directed(schema, _TARGET, "arrival")
    if lead == "from" and origins and (targets or any(column in held.columns for column in origins)):
        columns = origins
    elif lead in ("to", "into"):
        if not targets:
            raise Refused(
                f"No column tells where `{lead} {_said(held)}` is.", f"The columns are: {listed(schema.columns)}."
            )
        columns = targets
    elif lead == "from" and targets:
        columns = [column for column in columns if column not in targets]
    if len(columns) > 1:
        # Only the one that holds the city says where a flight to it goes, not the country beside it.
        holding = {column.name for column in held.columns}
        columns = [column for column in columns if column.name in holding] or columns
    if len(columns) > 1:
        raise Refused(f"`{_said(held)}` may be a {listed(columns, ' or a ')}.", f"Say which: {columns[0].name} is …")
    if not columns:
        raise Refused(
            f"No column tells what `{lead} {_said(held)}` is about.", f"Name one of: {listed(schema.columns)}."
        )
    if columns[0].name not in {column.name for column in held.columns} and lead not in ("from", "to", "into"):
        raise Refused(f"{columns[0].name} never holds `{_said(held)}`.", "Say which column is meant.")
    return columns[0]


def directed(schema: Schema, directions: frozenset[str], event: str) -> list[Column]:
    """The columns that say where something comes from or goes to."""
    texts = [column for column in schema.columns if column.kind in ("text", "numeric text")]
    plain = [column for column in texts if directions.intersection(column.words)]
    return plain or [column for column in texts if event in column.words and _PLACE.intersection(column.words)]


@RULES.rule("part", "<value> 's")
def whose(chart: Chart, held: Held) -> Test:
    """`Nadia's accounts`: the rows that hold Nadia."""
    return equals(chosen(held, "", chart.schema), held.found)


@RULES.rule("test", "[either] <values>")
def held(chart: Chart, held: Held) -> Test:
    """`red`, `Paris or Rome`: of the one column that holds them."""
    return equals(chosen(held, "", chart.schema), held.found)


@RULES.rule("test", "<lead> [either] <values>")
def led(chart: Chart, lead: str, held: Held) -> Test:
    """`from Paris`, `in Sales or IT`."""
    return equals(chosen(held, lead, chart.schema), held.found)


@RULES.rule("test", "<moved> [either] <values>", cost=0.05)
def moved(chart: Chart, said: tuple[str, str], held: Held) -> Test:
    """`shipped to Hamburg`: a place, and what was done there."""
    return replace(equals(chosen(held, said[0], chart.schema), held.found), deed=said[1])


RULES.words("moved", {
    f"{verb} {link}": (link, verb)
    for verb in ("shipped", "sent", "delivered", "picked up", "departing", "leaving", "arriving", "dropped off",
                 "dispatched")
    for link in ("to", "from", "in", "at")
})  # fmt: skip


@RULES.rule("test", "[<lead>] <values> <text> ; [<lead>] <values> <truth>", cost=0.05)
def before_column(chart: Chart, *said: Any) -> Test:
    """`the Sales department`, `high priority`, `hot meal`: the column's own word stands behind its value."""
    held, column = said[-2:]
    return equals(within(held, column), held.found)


@RULES.rule(
    "test",
    "[<lead>] <text> [is|are|was|were|of|:|=|==|equals|either|one of|is one of|is either|being|in|{] <values> [}]",
)
def of_column(chart: Chart, *said: Any) -> Test:
    """`status is shipped`, `city Berlin`, `insurer Helvia or Axum`."""
    column, held = said[-2:]
    return equals(within(held, column), held.found)


@RULES.rule(
    "test",
    "[<lead>] <text> [is|are|was|were|:|=|==|equals|either|number|no|nr] <digits> ;"
    " [<lead>] <text> [is|are|:|=|either] <digits> (or|and) <digits>",
    cost=0.1,
)
def of_numbered(chart: Chart, *said: Any) -> Test:
    """`line 12`, of a column that holds its numbers as text: they are names, and are not compared as numbers."""
    column = next(one for one in said if isinstance(one, Column))
    found = tuple(one for held in said if isinstance(held, Held) for one in held.found)
    return equals(within(Held(tuple(c for c in found[0].columns if _holds(c, found)), found), column), found)


def _holds(column: Column, found: tuple[Found, ...]) -> bool:
    return all(one.said in column.values for one in found)


@RULES.finder("digits")
def digits(chart: Chart, at: int) -> Iterator[Edge]:
    """A number that is a text of the table."""
    token = chart.token(at)
    columns = chart.schema.vocabulary.get(token.raw, ()) if token is not None and token.raw.isdigit() else ()
    if columns:
        yield Edge(at + 1, Held(columns, (Found(chart.tokens[at].raw, columns, at + 1),)))


@RULES.rule(
    "test",
    "(with|have|has|having) <values> as <text> ; (with|have|has|having) <values> for [a|an] <text> ;"
    " (where|when|for which|in which) <values> (is|was|are|were|acted as|served as) <text>",
)
def as_column(chart: Chart, held: Held, column: Column) -> Test:
    """`with Kettle as the sponsor`."""
    return equals(within(held, column), held.found)


@RULES.rule("test", "<text> (is|=|==|equals|:) <any_value>", cost=-0.2)
def is_small(chart: Chart, column: Column, held: Held) -> Test:
    """`name is all`: behind a column even a small word is a value."""
    return equals(within(held, column), held.found)


@RULES.finder("any_value")
def any_value(chart: Chart, at: int) -> Iterator[Edge]:
    word = chart.text(at)
    columns = chart.schema.vocabulary.get(word, ()) if word not in ("and", "or", "not", "") else ()
    if columns and not chart.edges("value", at):
        yield Edge(at + 1, Held(columns, (Found(word, columns, at + 1),)))


@RULES.rule(
    "test",
    "<text> (is|are|was|were|!=) not <values> ; <text> != <values> ; <text> not <values> ; "
    "<text> is anything but <values> ; <text> other than <values>",
)
def not_of_column(chart: Chart, column: Column, held: Held) -> Test:
    """`status is not shipped`."""
    return equals(within(held, column), held.found, negated=True)


@RULES.rule("test", "<text> <sameness> [<_things> 's|<_rows> 's] <text>", cost=0.05)
def beside(chart: Chart, one: Column, by: str, other: Column) -> Test:
    """`the gym is not the home gym`."""
    if one is other or one.nulls or other.nulls or one.blanks or other.blanks:
        raise Unfit
    return Test(compared(one.name, by, {"column": other.name}), negated=by == "!=")


RULES.words(
    "sameness",
    meanings(
        """
        ==: is same as | are same as | equals | is equal to | matches | is also | same as | match
        !=: is not same as | differs from | is different from | is not | is other than | does not match |
            is not equal to | are different from | different from | differ from | is not also | does not equal |
            not same as
        """
    ),
)


def within(held: Held, column: Column) -> Column:
    if column.name not in {one.name for one in held.columns}:
        raise Unfit
    return column


@RULES.rule("test", "(belong|belongs|belonging) (neither|not) to <values>")
def belonging_to_none(chart: Chart, held: Held) -> Test:
    """`belong neither to Lindt nor to Milka`."""
    return equals(chosen(held, "", chart.schema), held.found, negated=True)


@RULES.rule("test", "neither <values> ; neither <lead> <values>")
def neither(chart: Chart, *said: Any) -> Test:
    """`neither arable nor pasture`."""
    held = said[-1]
    return equals(chosen(held, said[0] if len(said) > 1 else "", chart.schema), held.found, negated=True)


@RULES.rule("test", "<text> (is|are|=|==|equals) <strange>", cost=1.0)
def unknown_value(chart: Chart, column: Column, token: Token) -> Test:
    """A text that the column never holds: in quotes it may be asked for, else it is a slip."""
    if token.kind == "quote":
        return Test(compared(column.name, "==", token.text), texts=True)
    close = next((texts[0] for said, texts in column.values.items() if near(said, token.text)), None)
    known = ", ".join(texts[0] for texts in list(column.values.values())[:6])
    hint = f"Did you mean `{close}`?" if close else f"It holds: {known}." if known else "Check the word."
    raise Refused(f"{column.name} never holds `{token.raw}`.", hint)


@RULES.finder("strange")
def strange(chart: Chart, at: int) -> Iterator[Edge]:
    """A word that is neither a value nor a column, nor one of ours."""
    token = chart.token(at)
    if token is None or token.kind not in ("word", "quote") or chart.edges("value", at):
        return
    if token.kind == "quote" or (token.text not in SMALL and not fits((token.text,), chart.schema)):
        yield Edge(at + 1, token)
