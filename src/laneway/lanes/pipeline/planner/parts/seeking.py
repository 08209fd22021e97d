"""Texts that are looked for: `name contains "air"`, `title starts with The`, `with refund in the subject`."""

from __future__ import annotations

from collections.abc import Iterator

from laneway.lanes.pipeline.planner.grammar import LIGHT, Chart, Edge, Rules
from laneway.lanes.pipeline.planner.names.columns import fits
from laneway.lanes.pipeline.planner.parts.missing import empty, present
from laneway.lanes.pipeline.planner.parts.pieces import Test, Where, compared
from laneway.lanes.pipeline.planner.parts.texts import SMALL
from laneway.lanes.pipeline.planner.phrasing import meanings, words
from laneway.lanes.pipeline.planner.reading import Token, written
from laneway.lanes.pipeline.planner.refusal import Refused, Unfit
from laneway.lanes.pipeline.planner.schema import Column, spoken
from laneway.lanes.pipeline.planner.spelling import stem

RULES = Rules()
TEXTS = meanings(
    """
    contains: contains | contain | containing | includes | including | include | mentions | mention | mentioning |
        has the word | that contains | that contain | which contains | that mention | that mentions | which mention |
        which mentions | saying | that says | that say
    starts_with: starts with | start with | starting with | begins with | begin with | beginning with |
        that starts with | that start with | that begins with
    ends_with: ends with | ending with | end with | ends in | ending in | that ends with | that end with | ends on
    """
)
RULES.words("likeness", TEXTS)


@RULES.finder("telling")
def telling(chart: Chart, at: int) -> Iterator[Edge]:
    """A column of texts, unless its words mean the rows: bookings that include breakfast hold no such text."""
    rows = {edge.end for edge in chart.edges("rows", at) if edge.value.told and edge.value.plural}
    yield from (edge for edge in chart.edges("text", at) if edge.end not in rows)


@RULES.rule("test", "<telling> <likeness> <sought>")
def like(chart: Chart, column: Column, by: str, sought: tuple[Token, ...]) -> Test:
    """`name contains "air"`, `title starts with The`."""
    _refuse_nothing(column, sought)
    return contains(column, by, sought)


@RULES.rule("test", "<telling> (does|do|did) not <likeness> <sought>")
def unlike(chart: Chart, column: Column, by: str, sought: tuple[Token, ...]) -> Test:
    _refuse_nothing(column, sought)
    if column.nulls:
        raise Refused(f"Some rows have no {column.name}, and `not` may or may not mean them.", "Filter them first.")
    return Test({"not": contains(column, by, sought).where}, negated=True)


def _refuse_nothing(column: Column, sought: tuple[Token, ...]) -> None:
    """Returns only if a text is looked for: what contains nothing is empty, or holds that very word."""
    for token in sought:
        if token.kind == "word" and token.text in _INDEFINITE:
            raise Refused(
                f"`{token.raw}` may be a text to look for, or say whether {column.name} holds any.",
                f"Put it in quotes, or say: {column.name} is missing.",
            )


@RULES.finder("holder")
def holder(chart: Chart, at: int) -> Iterator[Edge]:
    """A column of texts; the players table is none."""
    yield from (edge for edge in chart.edges("text", at) if chart.text(edge.end) not in _TABLES)


@RULES.rule(
    "test",
    "(with|where|whose|having|have|has|containing) (the word|the words|the text|word) <sought> (in|within|"
    "somewhere in|anywhere in) <holder>",
)
def word_inside(chart: Chart, sought: tuple[Token, ...], column: Column) -> Test:
    """`with the word nothing in the subject`."""
    return contains(column, "contains", sought)


@RULES.rule(
    "test",
    "(with|where|whose|having|have|has|containing) <sought> (in|within|"
    "somewhere in|anywhere in) <holder> ; <sought> (appears in|is in) <holder>",
)
def inside(chart: Chart, sought: tuple[Token, ...], column: Column) -> Test:
    """`with refund in the subject`; but `with nobody in the team` looks for no text."""
    if any(token.text in ("a", "the", "no", "not") for token in sought):
        raise Unfit
    if any(token.kind == "word" and _means_more(chart, token, column) for token in sought):
        raise Unfit
    if len(sought) == 1 and sought[0].kind == "word":
        inside = [said for said in column.values if sought[0].text in said]
        if sought[0].text in column.values and len(inside) > 1:
            raise Refused(f"`{sought[0].raw}` may be all or a part of {column.name}.", f"Say: {column.name} is …")
    return contains(column, "contains", sought)


@RULES.rule("test", "(with|having|have|has) (nothing|something|anything) (in|under) <remarked>")
def filled_in(chart: Chart, said: tuple[str, Column]) -> Test:
    """`with nothing in the remark`: it is empty; `with something in the remark`: it is not."""
    word, column = said
    if not (column.nulls or column.blanks):
        raise Refused(f"Every row has a {column.name}.", "Name another column, or put the word in quotes.")
    return Test(empty(column)) if word == "nothing" else Test(present(column))


@RULES.finder("remarked")
def remarked(chart: Chart, at: int) -> Iterator[Edge]:
    """A column of texts or dates, and the word that stands two before it: with `in`, it says whether there is one."""
    before = at - 1
    while chart.text(before) in LIGHT:
        before -= 1
    word = chart.text(before - 1)
    for edge in chart.edges("column", at):
        if not isinstance(edge.value, Column) or edge.value.kind not in ("text", "date"):
            continue
        end = edge.end + (chart.text(edge.end) in ("column", "field"))
        if chart.text(end) not in _TABLES and not _NONE.intersection(edge.value.values):
            yield Edge(end, (word, edge.value), edge.cost)


def _means_more(chart: Chart, token: Token, column: Column) -> bool:
    """Whether the word is a small one, or means something else of the table and is no text that the column holds."""
    if token.text in _INDEFINITE:
        return True
    if any(token.text in said for said in column.values):
        return False
    schema = chart.schema
    known = {token.text, stem(token.text)} & (schema.vocabulary.keys() | schema.singulars.keys())
    return bool(known or fits((stem(token.text),), schema))


_INDEFINITE = words(
    "nobody nothing none noone anyone anybody anything any someone somebody something some everyone everybody"
    " everything all many few several more less most least fewer both each every other others another those"
    " these them it ones"
)
"""Words for whoever or whatever there is: nobody looks for them as a text, unless they stand in quotes."""
_NONE = words("none no nil nobody nothing unknown")
"""Values that say that there is nothing."""
_TABLES = words("table tables sheet list file dataset data")
_BOUNDARY = words(
    "and or , but sorted ordered then per with that . ; in within ? ! : ( ) { } - first order by where who which"
)


_LOOSE = SMALL | words(
    "than except unless but if when while because only sorted ordered per each every first last then before after"
)


@RULES.finder("sought")
def sought(chart: Chart, at: int) -> Iterator[Edge]:
    """A text that is looked for, as it is written: in quotes, or one word and what is written in one with it."""
    at = _past_article(chart, at)
    token, end = _whole_text(chart, at)
    if token is None or token.kind not in ("quote", "word", "number", "date", "month"):
        return
    following = chart.token(end)
    if token.kind != "quote" and following is not None and following.text not in _BOUNDARY:
        # Two words or more may be what is looked for, if something shows where they end.
        for size in (2, 3):
            after = chart.token(at + size)
            both = chart.tokens[at : at + size]
            plain = all(one.kind in ("word", "number") and one.text not in _LOOSE for one in both)
            if not plain or (after is not None and after.text not in _BOUNDARY):
                continue
            text = written(both)
            sought_for = spoken(text)
            if any(sought_for in said for said in chart.schema.vocabulary):
                yield Edge(at + size, (Token("word", text.lower(), text),), 0.1)
                return
        return
    yield Edge(end, (token,))
    yield from _alternatives(chart, end, (token,))


def _past_article(chart: Chart, at: int) -> int:
    """Behind `the word`, `a` and their like; but a title may begin with The."""
    for said in (("the", "word"), ("the", "words"), ("the", "text"), ("the", "letters"), ("the", "letter"), ("word",),
                 ("a",), ("an",), ("the",)):  # fmt: skip
        size = len(said)
        if all(chart.text(at + place) == word for place, word in enumerate(said)):
            after = chart.token(at + size)
            if after is not None and after.text not in _BOUNDARY:
                return at + size
    return at


def _alternatives(chart: Chart, at: int, first: tuple[Token, ...]) -> Iterator[Edge]:
    """`starts with H or K`: more texts of the same comparison; a word that may say something else is in doubt."""
    token = chart.token(at + 1)
    if chart.text(at) != "or" or token is None or token.kind != first[0].kind or token.kind not in ("quote", "word"):
        return
    following = chart.token(at + 2)
    if following is not None and following.text not in _BOUNDARY:
        return
    if token.kind == "word" and (token.text in SMALL or token.text in TEXTS or fits((token.text,), chart.schema)):
        return
    if token.kind == "word" and (token.text in chart.schema.vocabulary or token.text in chart.schema.singulars):
        raise_later = Refused(
            f"`{token.raw}` may be a text to look for or a value.", "Put what is looked for in quotes."
        )
        from laneway.lanes.pipeline.planner.refusal import Doubt

        yield Edge(at + 2, Doubt(raise_later.refusal))
        return
    yield Edge(at + 2, (*first, token))
    yield from _alternatives(chart, at + 2, (*first, token))


def _whole_text(chart: Chart, at: int) -> tuple[Token | None, int]:
    """The word that comes next with what is written in one with it, as `post.test` and `.com`."""
    token, end = chart.token(at), at + 1
    while token is not None and token.kind in ("word", "number", "mark", "op"):
        sign, after = chart.token(end), chart.token(end + 1)
        if end == at + 1 and token.text == "." and sign is not None and sign.glued and sign.kind == "word":
            token, end = Token("word", f".{sign.text}", f".{sign.raw}"), end + 1
        elif sign is not None and after is not None and sign.text in ".-" and sign.glued and after.glued:
            raw = token.raw + sign.raw + after.raw
            token, end = Token("word", raw.lower(), raw), end + 2
        elif sign is not None and sign.glued and sign.kind in ("word", "number"):
            token, end = Token("word", token.text + sign.text, token.raw + sign.raw), end + 1
        else:
            break
    return token, end


def contains(column: Column, by: str, sought: tuple[Token, ...]) -> Test:
    """The column's text holds one of these, in whatever case."""
    if column.kind not in ("text", "numeric text", "empty"):
        raise Refused(f"{column.name} does not hold text.", "Compare it with a number or a date.")
    each: list[Where] = []
    for token in sought:
        if token.kind == "quote" and _case_matters(column, by, token.text):
            raise Refused(
                f"`{token.text}` fits some of {column.name} only in another case.",
                "Leave out the quotes to ignore case.",
            )
        each.append(compared(column.name, by, token.raw, ignore_case=True))
    return Test(each[0] if len(each) == 1 else {"or": each})


def _case_matters(column: Column, by: str, text: str) -> bool:
    def holds(whole: str, part: str) -> bool:
        return {"starts_with": whole.startswith(part), "ends_with": whole.endswith(part)}.get(by, part in whole)

    forms = [form for each in column.values.values() for form in each]
    exact = [form for form in forms if holds(form, text)]
    loose = [form for form in forms if holds(form.lower(), text.lower())]
    return bool(exact) and len(exact) != len(loose)
