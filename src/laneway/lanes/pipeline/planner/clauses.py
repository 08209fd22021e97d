"""How a request begins, ends and goes on, and how many rows it wants."""

from __future__ import annotations

from laneway.lanes.pipeline.planner.amounts import count
from laneway.lanes.pipeline.planner.ask import Ask
from laneway.lanes.pipeline.planner.columns import column_at
from laneway.lanes.pipeline.planner.conditions import condition
from laneway.lanes.pipeline.planner.dimensions import SUPERLATIVES
from laneway.lanes.pipeline.planner.lexicon import ORDINALS
from laneway.lanes.pipeline.planner.nouns import noun_at
from laneway.lanes.pipeline.planner.phrasing import phrases, words
from laneway.lanes.pipeline.planner.reading import Reader
from laneway.lanes.pipeline.planner.refusal import Refused
from laneway.lanes.pipeline.planner.schema import Schema

OPENERS = phrases(
    """
    can you please | could you please | can you | could you | would you | will you | please | hey | hi | hello |
    ok | i would like to see | i would like to know | i would like | i want to see | i want to know | i want |
    i need to see | i need to know | i need | i am looking for | looking for | let me see | let us see |
    let me know | show me | show us | show | give me | give us | give | list out | list | get me | get | find me |
    find | display | print | return | fetch me | fetch | pull up | bring up | tell me | what are | what is |
    what were | what was | which are | which is | which | who are | who is | who has | who have | who | what |
    look up | select | search for | see | output | report | report me | retrieve | extract | pick | choose | take |
    keep | grab | filter to | filter for | filter | narrow down to | restrict to | limit to | reduce to | just |
    calculate | compute | work out | determine | figure out | where are | now | then
    """
)
_YES_NO = words(
    """
    is are was were does do did has have can could should will would am
    """
)
_ASKING = ("which", "what", "who", "list")
_CLOSERS = phrases(
    """
    in the table | in this table | in the data | in the dataset | in this data | in the list | in this list |
    in our data | in our list | in total | for me | thanks | thank you | please | altogether | overall |
    from the table | from the data | from the list | of the table | of the data | in there | in the file | in all |
    we have | do we have | do i have | did we have | have we got | i have | are there | is there | on record |
    on file | if you can | if possible | exist
    """
)
_BREAKS = phrases(
    """
    show | list | give | sort | order | rank | arrange | take | keep | group | count | return | display | limit |
    filter | select | add | compute | calculate | rename | drop | remove | hide | skip | join | print | get | pick |
    only show | just show | only keep | only return | only list | tell | find | summarize | merge | omit |
    leave out | exclude the column | sample | only display | only give | cut
    """
)

_SKIPS = phrases(
    """
    skipping the first | skip the first | skipping | skip | after the first | offset | leaving out the first |
    ignoring the first | ignore the first | starting after the first | without the first
    """
)
_NEXT = phrases(
    """
    and take the next | and show the next | and give me the next | then take the next | , then take the next |
    and show me the next | , take the next | and list the next | and return the next | then show the next |
    and then show the next | and then take the next
    """
)
_FIRSTS = phrases(
    """
    top | bottom | first | limited to | limit to | limit | at most | up to | maximum
    """
)


def opening(reader: Reader, ask: Ask) -> None:
    """Politeness and the verb that only says `show` are read."""
    if reader.at == 0 and reader.word() in _YES_NO and not any(reader.sees(one) for one in OPENERS):
        raise Refused("A question for yes or no has no table for an answer.", "Ask for the rows.")
    while True:
        mark = reader.at
        if reader.word() in ("take", "keep", "first", "just", "which", "what") and reader.sees(
            f"{reader.word()} the first"
        ):
            reader.at += 1
            continue
        if reader.word() == "first" and (reader.token(1) is None or reader.token(1).kind == "number"):  # type: ignore[union-attr]
            return
        said = reader.takes(*OPENERS)
        if not said:
            return
        if said == "compute" or said == "calculate":
            ask.opener = "compute"
        first = said.split()[0]
        if first in _ASKING:
            ask.opener = said
        reader.takes(",", ":")
        if reader.at == mark:
            return


def closers(reader: Reader, schema: Schema) -> bool:
    """Words around a request that say nothing about the table are read."""
    return bool(reader.takes(*_CLOSERS))


def breaks(reader: Reader, schema: Schema) -> tuple[int, bool] | None:
    """How many tokens part this clause from the next, and whether they say `then`; None if it goes on."""
    ahead, then = 0, False
    while reader.word(ahead) in (
        ",",
        "and",
        "then",
        ";",
        ".",
        "after",
        "that",
        "finally",
        "next",
        "afterwards",
        "also",
        "?",
        "!",
    ):
        then = (
            then
            or reader.word(ahead) in ("then", "finally", "afterwards", "next")
            or reader.sees("after that", ahead) > 0
        )
        ahead += 1
    if not ahead:
        return None
    if reader.word(ahead) in ("please", "now"):
        ahead += 1
    if any(reader.sees(verb, ahead) for verb in _BREAKS) and not _is_column(reader, schema, ahead):
        return ahead, then
    if then and reader.word(ahead) in ("the", "what", "how", "average", "total", "top", "first"):
        return ahead, then
    return None


def _is_column(reader: Reader, schema: Schema, ahead: int) -> bool:
    """Whether the verb is rather a column of that name in a list of columns."""
    found, size = column_at(reader, schema, ahead)
    after = reader.word(ahead + size)
    return (
        bool(found)
        and size > 0
        and after not in ("by", "the", "only", "me", "them", "how")
        and (reader.word(ahead) in {column.name.lower() for column in found})
    )


def amounts_of_rows(reader: Reader, schema: Schema, ask: Ask) -> bool:
    """`top 5`, `first ten`, `bottom 3`, `limit 20`, `skip the first 5`, `next 10`, `rows 11 to 20`, `the 5`."""
    return _skipped(reader, ask) or _ranged(reader, ask) or _numbered(reader, schema, ask)


def _skipped(reader: Reader, ask: Ask) -> bool:
    mark = reader.at
    if not reader.takes(*_SKIPS):
        return False
    number = count(reader)
    if number is None:
        reader.at = mark
        return False
    if ask.offset:
        raise Refused("Rows are left out twice.", "Say once how many.")
    reader.takes("rows", "records", "entries", "results", "ones", "of them")
    reader.takes(*_NEXT)
    ask.offset = number
    following = count(reader)
    if following is not None:
        _want(ask, following)
    return True


def _ranged(reader: Reader, ask: Ask) -> bool:
    mark = reader.at
    if reader.takes("rows", "records", "entries", "row"):
        reader.takes("from", "number", "numbers")
        first = count(reader)
        if first is not None and reader.takes("to", "through", "-"):
            last = count(reader)
            if last is not None and last >= first and not ask.offset:
                ask.offset = first - 1
                _want(ask, last - first + 1)
                ask.noun = ask.noun or "rows"
                return True
    reader.at = mark
    return False


def _numbered(reader: Reader, schema: Schema, ask: Ask) -> bool:
    mark = reader.at
    reader.skips(
        frozenset(("the", "only", "just", "any", "a"))
        if reader.word(1) in _HEADS or _number_next(reader)
        else frozenset()
    )
    ordinal = ORDINALS.get(reader.word())
    if ordinal and reader.word(1) not in ("",):
        reader.at += 1
        ask.place = ordinal
        return True
    head = reader.takes(*_FIRSTS)
    if head in ("at most", "up to", "maximum", "limit", "limited to", "limit to"):
        reader.takes("the first", "the top", "to")
    single = reader.word() == "one"
    number = count(reader)
    if number is None or (head in ("at most", "up to", "maximum") and not _rows_next(reader, schema)):
        reader.at = mark
        return False
    alone = not reader or reader.word() == ","
    if not head and (ask.superlative is None if alone else not _rows_next(reader, schema) and not degree_next(reader)):
        reader.at = mark
        return False
    if reader.word() in ("%", "percent"):
        raise Refused("A share of the rows is not something I take.", "Say how many rows.")
    _want(ask, number)
    ask.implied = single
    ask.firsts = ask.firsts or head in ("top", "first", "limit", "limited to")
    ask.bottom = head == "bottom"
    return True


_HEADS = frozenset(("top", "bottom", "first"))


def _number_next(reader: Reader) -> bool:
    token = reader.token(1)
    return token is not None and (token.kind == "number" or token.text in ORDINALS)


def _rows_next(reader: Reader, schema: Schema) -> bool:
    """Whether a noun, or the end, follows the number."""
    if not reader or reader.word() in (",", "of", "random", "distinct", "unique", "different"):
        return True

    mark = reader.at
    try:
        for _ in range(3):
            noun = noun_at(reader, schema)
            if noun is not None:
                return noun[0].column is None or not noun[0].column.measure
            if condition(reader, schema) is None:
                return False
    except Refused:
        return True
    finally:
        reader.at = mark
    return False


def degree_next(reader: Reader) -> bool:

    return any(reader.sees(said) for said in SUPERLATIVES) or reader.word() in (
        "most",
        "least",
        "highest",
        "lowest",
        "fewest",
        "random",
    )


def _want(ask: Ask, number: int) -> None:
    if ask.wanted is not None:
        raise Refused("How many rows are wanted is said twice.", "Say one number.")
    ask.wanted = number
