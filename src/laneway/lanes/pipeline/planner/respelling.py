"""Slips of the finger in the request's own words: `avarage` is read as average, where nothing else is near it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from laneway.lanes.pipeline.planner.language import LANGUAGE
from laneway.lanes.pipeline.planner.names.nouns import NO_NOUNS
from laneway.lanes.pipeline.planner.names.owners import names_rows, row_nouns
from laneway.lanes.pipeline.planner.parts.bounds import OPERATORS
from laneway.lanes.pipeline.planner.parts.dates import DATES
from laneway.lanes.pipeline.planner.parts.figures import WORDS
from laneway.lanes.pipeline.planner.parts.seeking import TEXTS
from laneway.lanes.pipeline.planner.parts.small import OPENERS
from laneway.lanes.pipeline.planner.phrasing import pairs, words
from laneway.lanes.pipeline.planner.reading import Token
from laneway.lanes.pipeline.planner.schema import Schema
from laneway.lanes.pipeline.planner.spelling import near, participle, plural, root, stem
from laneway.lanes.pipeline.planner.words.degrees import COMPARATIVES, SUPERLATIVES
from laneway.lanes.pipeline.planner.words.kinds import KIN, PERSONS, TYPICAL
from laneway.lanes.pipeline.planner.words.naming import CONCEPTS, EVENTS, IRREGULAR, UNITS
from laneway.lanes.pipeline.planner.words.small import FILLERS, GENERIC, MONTHS, VAGUE, WORD_NUMBERS


def _words(*lists: Iterable[str]) -> frozenset[str]:
    return frozenset(word for said in lists for phrase in said for word in phrase.split())


_PLAIN_VERBS = words("sorted ordered grouped descending ascending containing excluding including")
_OURS = frozenset(word for word in LANGUAGE.vocabulary if word.isalpha())
_MENDED = _words(OPENERS, SUPERLATIVES, COMPARATIVES, OPERATORS, WORDS, DATES) | words(
    """
    sorted ordered arranged descending ascending grouped group distinct unique different between contains containing
    starting
    without excluding including except highest lowest largest smallest biggest duplicates random summary summarize
    rename
    column columns called sample multiplied divided alphabetically newest oldest missing number count order
    """
)
_TARGETS = frozenset(word for word in _MENDED if len(word) >= 5)
_MEANT = (
    _OURS
    | FILLERS
    | VAGUE
    | NO_NOUNS
    | GENERIC
    | EVENTS
    | words("join combine combining merge joining link match product difference multiply dividing adding pivot")
    | frozenset((*CONCEPTS, *TYPICAL, *MONTHS, *UNITS, *WORD_NUMBERS))
)


_SLIPS = pairs(
    "wiht=with; wtih=with; whit=with; teh=the; hte=the; adn=and; taht=that; thier=their; whcih=which; wich=which;"
    "shwo=show; hsow=show; lsit=list; mroe=more; moer=more; tahn=than; thna=than; frist=first; fisrt=first;"
    "fomr=from; frmo=from; bewteen=between; whihc=which; hwo=how; waht=what; wher=where"
)
"""Small words too short to be told from others by their letters."""
_COMPARING = frozenset(("more", "less", "fewer", "greater", "higher", "lower", "larger")) | frozenset(COMPARATIVES)
_NOUNS = frozenset((*TYPICAL, *PERSONS, *(noun for family in KIN for noun in family)))
_PLURALS = {noun: said for said, noun in IRREGULAR.items()}


def respelled(tokens: list[Token], schemas: Collection[Schema]) -> list[Token]:
    """The request with its own words spelled rightly; words of the tables, and any that may be one, are left alone."""
    theirs = {part for schema in schemas for part in _words_of(schema)}
    tokens = [_small(tokens, at, theirs) for at in range(len(tokens))]
    tokens = [token if _sought(tokens, at) else _row_noun(token, theirs, schemas) for at, token in enumerate(tokens)]
    return [token if _sought(tokens, at) else _respelled(token, theirs) for at, token in enumerate(tokens)]


def _small(tokens: list[Token], at: int, theirs: set[str]) -> Token:
    """The token, or the small word it is a slip of: `wiht`, `more then 40`."""
    token, after = tokens[at], tokens[at + 1] if at + 1 < len(tokens) else None
    word = _SLIPS.get(token.text, "") if token.kind == "word" and token.text not in theirs else ""
    if token.text == "then" and at and after is not None and after.kind == "number":
        word = "than" if tokens[at - 1].text in _COMPARING else ""
    return replace(token, text=word, raw=word) if word and not _sought(tokens, at) else token


def _row_noun(token: Token, theirs: set[str], schemas: Collection[Schema]) -> Token:
    """The token, or the noun for the rows it is a slip of: `trians`, of a table with a train_no."""
    word = token.text
    if token.kind != "word" or len(word) < 5 or not word.isalpha() or token.raw != word:
        return token
    if {word, stem(word), root(word)} & (_MEANT | theirs | _NOUNS):
        return token
    nouns = {noun for schema in schemas for noun in _NOUNS | row_nouns(schema) if names_rows(noun, schema)}
    found = [(noun, form) for noun in nouns for form in (noun, _several(noun)) if _mistyped(word, form)]
    if len(found) != 1:
        return token
    noun, form = found[0]
    own = {noun, root(noun), form}
    if any(near(word, one) or near(stem(word), stem(one)) for one in theirs if not {one, stem(one)} & own):
        return token
    return replace(token, text=form, raw=form)


def _mistyped(word: str, form: str) -> bool:
    """Whether letters were swapped, left out or doubled; with another letter it may be another word: trails, trains."""
    return (
        near(word, form) and (len(word) != len(form) or sorted(word) == sorted(form)) and plural(form) >= plural(word)
    )


def _several(noun: str) -> str:
    return _PLURALS.get(noun, f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2] not in "aeiou" else f"{noun}s")


def _sought(tokens: list[Token], at: int) -> bool:
    """Whether the word is a text that is looked for, as it is written: `contains refnd`, `with refnd in the name`."""
    before = [token.text for token in tokens[max(at - 4, 0) : at]]
    while before and before[-1] in ("the", "word", "text", "letters", "letter"):
        before.pop()
    after = [token.text for token in tokens[at + 1 : at + 3]]
    said = any(before[-len(one.split()) :] == one.split() for one in TEXTS)
    return said or after in (["in", "the"], ["in", "its"], ["in", "their"])


def _words_of(schema: Schema) -> Iterable[str]:
    yield from schema.name.lower().replace("_", " ").split()
    for column in schema.columns:
        yield from column.words
        yield from map(root, column.words)
        yield column.name.lower()
    for value in schema.vocabulary:
        yield from value.split()


def _respelled(token: Token, theirs: set[str]) -> Token:
    word = token.text
    if token.kind != "word" or len(word) < 5 or not word.isalpha() or token.raw != word:
        return token
    if {word, stem(word), root(word)} & (_MEANT | theirs) or plural(word):
        return token
    # `played` is no slip of `placed`: verbs are too many to tell.
    found = [one for one in _TARGETS if near(word, one) and (one in _PLAIN_VERBS or not participle(word))]
    # With another letter in it, a short word is often another word: a court is no count.
    found = [one for one in found if len(word) > 5 or len(word) != len(one) or sorted(word) == sorted(one)]
    if len(found) != 1 or any(near(stem(word), one) for one in theirs):
        return token
    return replace(token, text=found[0], raw=found[0])
