"""What is there or missing: `without a rating`, `fare is unknown`, `not returned yet`, `never borrowed`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from laneway.lanes.pipeline.planner.grammar import Chart, Edge, Rules
from laneway.lanes.pipeline.planner.names.columns import named
from laneway.lanes.pipeline.planner.names.likeness import related
from laneway.lanes.pipeline.planner.parts.dates import moments_of
from laneway.lanes.pipeline.planner.parts.pieces import Test, Where, compared
from laneway.lanes.pipeline.planner.phrasing import phrases, words
from laneway.lanes.pipeline.planner.refusal import Refused, Unfit
from laneway.lanes.pipeline.planner.schema import Column
from laneway.lanes.pipeline.planner.spelling import name_parts, participle, plural
from laneway.lanes.pipeline.planner.words.verbs import DOERS, MEASURING

RULES = Rules()
_NEEDS_SOMEBODY = words("insured sponsored owned managed supervised taught hosted led")
"""Where nobody is named who does it, it is not done."""
_COUNTABLE = words(
    "child kid pet dog cat dependent infant baby passenger guest error complaint defect injury damage penalty"
)
"""Whoever has such has at least one."""
_NONES = ("none", "no", "nil", "n a", "not applicable", "nobody", "unknown")
"""Values that say that there is nothing."""
RULES.words(
    "lacking",
    phrases(
        """
        missing | lacking | that are missing | are missing | is missing | that lack | lack | lacks | with missing |
        with no | no |
        have no | has no | having no | had no | without any | without | with empty | with blank | with unknown |
        unknown |
        whose missing | with no known | where we have no | we have no | with undefined | with unspecified | there is no
        """
    ),
)
RULES.words(
    "given",
    phrases(
        """
        set | given | known | available | recorded | entered | specified | there | provided | noted | stated |
        present | listed
        """
    ),
)
RULES.words("given", ("filled in", "on file", "included"))
RULES.words(
    "blank", ["missing", "empty", "blank", "null", "unknown", "unset", "unspecified", "undefined", "absent", "none"]
)


def empty(column: Column) -> Where:
    """The column says nothing: null, not there, or a text without a letter."""
    null = compared(column.name, "null")
    return {"or": [null, compared(column.name, "==", "")]} if column.blanks else null


def present(column: Column) -> Where:
    """The column says something."""
    given = compared(column.name, "not_null")
    return {"and": [given, compared(column.name, "!=", "")]} if column.blanks else given


@RULES.rule(
    "lacking",
    "<_does> not [yet] have [any|single|one] ; (have|has|had) (not|never) [yet] had [any] ;"
    " (where|for which) (we|there) (have no|is no|are no|do not have) ;"
    " [is|are|was|were] not (assigned to|attached to|linked to|part of) any ;"
    " (we|i) (do|did) not have ; (do|does) not (show|give|list|state|mention|name|specify) [any]",
)
def lacking(chart: Chart) -> str:
    return "lacking"


@RULES.rule(
    "test",
    "<_lacking> <column> ; <_lacking> <column> (yet|date|assigned|at all|information|named|either|value|values) ;"
    " <_lacking> <column> <_given>",
)
def missing(chart: Chart, column: Column) -> Test:
    """`missing an email`, `without a rating`, `with no stops`."""
    if column.kind == "bool":
        raise Unfit
    none = next((word for word in _NONES if word in column.values), None)
    if (none is not None or (column.kind == "number" and column.zeros)) and column.nulls:
        raise Refused(
            f"No {column.name} may mean {none or 0}, or nothing at all.",
            f"Say: {column.name} is {none or 0}, or missing.",
        )
    if none is not None:
        return Test(compared(column.name, "in", list(column.values[none])), texts=True)
    if column.kind == "number" and column.zeros:
        return Test(compared(column.name, "==", 0))
    return Test(empty(column))


@RULES.rule(
    "test",
    "missing <column> ; no <column> (is|was|are|were|has been) <_given> ; <_lacking> <column> (value|values) ;"
    " where <column> (is|are) (missing|unknown)",
    cost=0.05,
)
def surely_missing(chart: Chart, column: Column) -> Test:
    return Test(empty(column))


@RULES.rule("test", "[<_have>] neither <column> nor <column>", cost=0.05)
def both_missing(chart: Chart, one: Column, other: Column) -> Test:
    """`with neither a return date nor a fine`."""
    return Test({"and": [missing(chart, one).where, missing(chart, other).where]}, negated=True)


@RULES.rule("test", "<_lacking> <anaphor>", cost=0.1)
def missing_it(chart: Chart, column: Column) -> Test:
    """`total by sponsor, leave out episodes without one`."""
    return missing(chart, column)


@RULES.finder("anaphor")
def anaphor(chart: Chart, at: int) -> Iterator[Edge]:
    """`one`: the last column that was named before, if it is missing somewhere."""
    if chart.text(at) not in ("one", "any", "it") or chart.edges("column", at + 1):
        return
    for before in range(at - 1, -1, -1):
        columns = [edge.value for edge in chart.edges("column", before) if isinstance(edge.value, Column)]
        if columns:
            if columns[0].nulls and columns[0].kind != "bool":
                yield Edge(at + 1, columns[0])
            return


RULES.words("open", ["open", "outstanding", "pending", "ongoing", "unfinished", "uncompleted", "incomplete"])
RULES.words("active", ["active", "current"])
_CLOSING = words(
    "closed close resolved resolution completed completion finished ended returned solved settled fixed done"
)
_LEAVING = words("churned left ended terminated termination cancelled deactivated closed quit resigned exit")
_STATES = words("status state open stage active")


@RULES.rule("test", "[<_be>] [still] <_open>", cost=0.1)
def still_open(chart: Chart) -> Test:
    """`open cases`: those that have no day on which they were closed, where no column of states tells."""
    return _not_over(chart, _CLOSING)


@RULES.rule("test", "[<_be>] [still|currently] <_active>", cost=0.1)
def still_active(chart: Chart) -> Test:
    """`active accounts`, where a date says when one was cancelled."""
    return _not_over(chart, _LEAVING)


def _not_over(chart: Chart, said: frozenset[str]) -> Test:
    columns = chart.schema.columns
    if any(not _STATES.isdisjoint(column.words) for column in columns):
        raise Unfit
    over = [column for column in columns if column.kind in ("date", "bool") and not said.isdisjoint(column.words)]
    if len(over) != 1 or (over[0].kind == "date" and not over[0].nulls):
        raise Unfit
    return Test(empty(over[0]) if over[0].kind == "date" else compared(over[0].name, "==", False))


@RULES.rule(
    "absent",
    "<_be> [still|left] <_blank> ; <_blank> ; (is|are|was|were|has|have) not [been] [yet] <_given>",
)
def absent(chart: Chart) -> str:
    return "absent"


@RULES.rule("test", "<column> <_absent>")
def is_missing(chart: Chart, column: Column) -> Test:
    """`fare is missing`, `rating unknown`."""
    return Test(empty(column))


@RULES.rule("test", "<column> (or|and) <column> <absent> ; <_lacking> <column> or <column> [yet|given|entered]")
def either_missing(chart: Chart, *said: Any) -> Test:
    """`the fare or the duration is unknown`, `without an author or a price`."""
    one, other, *told = said
    if any(column.kind == "number" and column.zeros and not told for column in (one, other)):
        raise Unfit
    return Test({"or": [empty(one), empty(other)]})


@RULES.rule(
    "test",
    "<column> <_be> not <_blank> ; <column> <_be> <_given> ; known <column> ; (we|i) (have|know) <column> ;"
    " <column> (we|i) know",
)
def there(chart: Chart, column: Column) -> Test:
    """`with a known temperature`."""
    return Test(present(column))


@RULES.rule("test", "(with|having) (their|its|his|her) <column>")
def with_theirs(chart: Chart, column: Column) -> Test:
    """`with their salaries` may mean a column to show, or rows that have one."""
    raise Refused(
        f"`with their {column.name}` may mean a column to show, or rows that have one.",
        f"Say: name and {column.name}, or: with a {column.name}.",
    )


@RULES.rule("test", "<_have> [some|any|own] [known|recorded|given] <column>", cost=0.2)
def having(chart: Chart, column: Column) -> Test:
    """`with an email`, `that have a rating`."""
    several = plural(name_parts(column.name)[0])
    if column.kind == "bool" or (column.measure and several and not column.nulls and not column.zeros):
        raise Unfit
    if not column.nulls and not column.blanks and not column.zeros:
        raise Refused(f"Every row has a {column.name}.", f"Say: name and {column.name}, if it is to be shown.")
    if column.kind == "number" and {"left", "available", "remaining"} & set(column.words):
        return Test(compared(column.name, ">", 0))
    if column.kind == "number" and column.zeros and column.words and _counted_ones(column):
        return Test(compared(column.name, ">", 0))
    if column.kind == "number" and (column.zeros or (plural(name_parts(column.name)[-1]) and not column.unit)):
        raise Refused(
            f"`with {column.name}` may mean one, more than none, or any number.", f"Say: {column.name} at least 1."
        )
    return Test(present(column), present=True)


def _counted_ones(column: Column) -> bool:
    """Whether the column counts beings or things that are there or not: children, pets."""
    return len(column.words) == 1 and column.words[0] in _COUNTABLE


@RULES.finder("occurred")
def occurred(chart: Chart, at: int) -> Iterator[Edge]:
    """`discharged`, `returned`: the one date that says when, where some rows have none."""
    word = chart.text(at)
    if not participle(word) or word in chart.schema.vocabulary or word in chart.schema.singulars:
        return
    columns = moments_of(word, chart.schema)
    if len(columns) == 1 and columns[0].nulls and columns[0].kind == "date":
        yield Edge(at + 1, columns[0], 0.1)


@RULES.rule("test", "[been] <occurred> [already|so far]", cost=0.2)
def happened(chart: Chart, column: Column) -> Test:
    return Test(present(column), done=True)


@RULES.rule(
    "test",
    "(not|never|non|yet to be|still to be) [yet] [been|be] <occurred> [yet|so far|at all] ;"
    " (is|are|was|were|have|has|had|do|does|did) (not|never) [yet] [been|be] <occurred> [yet|so far|at all]",
)
def not_happened(chart: Chart, column: Column) -> Test:
    """`not returned yet`, `haven't been delivered`."""
    return Test(empty(column), negated=True)


@RULES.rule("test", "[has|have|was|were|had] (never|not) [yet] [been] <counting> [yet|at all]", cost=0.1)
def not_once(chart: Chart, column: Column) -> Test:
    """`never borrowed`: where it is counted how often."""
    return Test(compared(column.name, "==", 0), negated=True)


@RULES.rule("test", "[been] <counting> [<than>] <times> ; [been] <counting> <times> <suffix>", cost=0.1)
def so_often(chart: Chart, column: Column, *said: Any) -> Test:
    """`reopened at least once`, `serviced more than twice`."""
    number = next(one for one in said if isinstance(one, int))
    by = next((one[0] if isinstance(one, tuple) else one for one in said if not isinstance(one, int)), "==")
    return Test(compared(column.name, by, number))


RULES.words(
    "times", {"once": 1, "twice": 2, "one time": 1, "two times": 2, "three times": 3, "four times": 4, "five times": 5}
)


@RULES.finder("counting")
def counting(chart: Chart, at: int) -> Iterator[Edge]:
    """A verb that one column counts."""
    verb = chart.text(at)
    if not participle(verb) or verb in chart.schema.vocabulary or moments_of(verb, chart.schema):
        return
    found = [column for column in chart.schema.columns if column.measure and column.zeros and related(verb, column)]
    if len(found) == 1 and not found[0].unit:
        yield Edge(at + 1, found[0])


@RULES.rule("test", "<undone> ; (nobody|no one|noone) [has|have|is|was|were|had] [ever|yet] <not_done> [to|by|for|yet]")
def unsaid(chart: Chart, column: Column) -> Test:
    """`unassigned`, `nobody has rated`."""
    return Test(empty(column))


@RULES.finder("undone")
def undone(chart: Chart, at: int) -> Iterator[Edge]:
    """`unrated`, `unassigned`, `undelivered`: the one column the verb is about says nothing."""
    word = chart.text(at)
    verb = word.removeprefix("un")
    column = _about(chart, verb) if verb != word and word not in chart.schema.vocabulary else None
    if column is not None:
        yield Edge(at + 1, column)


@RULES.finder("not_done")
def not_done(chart: Chart, at: int) -> Iterator[Edge]:
    """A verb whose column says nothing in some rows."""
    column = _about(chart, chart.text(at))
    if column is not None:
        yield Edge(at + 1, column)


def _about(chart: Chart, verb: str) -> Column | None:
    """The one column that a verb is about, where it says nothing of some rows."""
    if not participle(verb) or verb in chart.schema.vocabulary or verb in chart.schema.singulars:
        return None
    if verb in ("rated", "scored", "priced"):
        found = [column for column in named(MEASURING[verb], chart.schema) if column.kind == "number"]
        return found[0] if len(found) == 1 else None
    found = [
        c for c in chart.schema.columns if c.kind in ("text", "date", "bool") and (related(verb, c) or _doer(verb, c))
    ]
    if any(column.kind == "bool" for column in found) or not all(column.nulls for column in found):
        return None
    if len(found) > 1:
        # What is unpaid has no day on which it was paid.
        found = [column for column in found if column.kind == "date"]
    return found[0] if len(found) == 1 else None


def _doer(verb: str, column: Column) -> bool:
    """Whether the column says who does that, and nobody where it was not done."""
    return verb in _NEEDS_SOMEBODY and not DOERS.get(verb, frozenset()).isdisjoint(column.words)
