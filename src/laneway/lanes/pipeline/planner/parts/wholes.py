"""What is asked of a table as a whole: how many rows, different values, rows by chance, a summary, a pivot."""

from __future__ import annotations

from typing import Any

from laneway.lanes.pipeline.planner.grammar import Chart, Rules
from laneway.lanes.pipeline.planner.names.nouns import Rows, Things
from laneway.lanes.pipeline.planner.parts.degrees import agrees
from laneway.lanes.pipeline.planner.parts.pieces import (
    Degree,
    Distinct,
    Figure,
    Key,
    Order,
    Pivot,
    Place,
    Rounded,
    Sample,
    Skip,
    Summary,
    Wanted,
)
from laneway.lanes.pipeline.planner.phrasing import phrases
from laneway.lanes.pipeline.planner.refusal import Refused, Unfit
from laneway.lanes.pipeline.planner.schema import Column
from laneway.lanes.pipeline.planner.words.small import ORDINALS

RULES = Rules()


@RULES.rule("part", "<count>", cost=0.1)
def wanted(chart: Chart, number: int) -> Wanted:
    """`5`, before what is counted."""
    return Wanted(number)


RULES.words("head", {"top": "top", "first": "first", "bottom": "bottom", "limit": "limit", "limited to": "limit",
                     "limit to": "limit",
                     "limit to the": "limit", "limit it to": "limit", "limit the results to": "limit",
                     "limit them to": "limit", "only the first": "first",
                     "only the top": "top", "up to": "most", "at most": "most", "maximum": "most",
                     "the first": "first", "the top": "top", "max": "most",
                     "no more than": "most", "top ones": "top", "leading": "top"})  # fmt: skip


@RULES.rule("part", "<head> <count> ; limit [to|it to] (top|first) <count>")
def headed(chart: Chart, *said: Any) -> Wanted:
    """`top 5`, `first ten`, `limit 20`."""
    head = said[0] if len(said) > 1 else "limit"
    if head == "most" and said[-1] > chart.schema.rows:
        # At most 900 of ten rows are no rows, but euros.
        raise Unfit
    return Wanted(said[-1], "limit" if head == "most" else head)


@RULES.rule("part", "<count> (%|percent) ; <head> <count> (%|percent)")
def percent(chart: Chart, *said: Any) -> Wanted:
    raise Refused("A share of the rows is not something I take.", "Say how many rows.")


RULES.words("nth", {word: number for word, number in ORDINALS.items() if number > 1})


@RULES.rule("part", "<nth>")
def place(chart: Chart, number: int) -> Place:
    """`second cheapest`."""
    return Place(number)


RULES.words("skips", phrases(
    """
    skipping the first | skip the first | skipping | skip | after the first | offset | leaving out the first |
    ignoring the first | ignore the first | starting after the first | without the first | leave out the first
    """
))  # fmt: skip
RULES.words("next", phrases(
    """
    and take the next | and show the next | and give me the next | then take the next | , then take the next |
    and show me the next | , take the next | and list the next | and return the next | then show the next |
    and then show the next | and then take the next | , show the next | , show me the next | and take | then take |
    and show |
    then give me the next | , then show the next | then the next | and the next | , the next | , then the next | , next
    """
))  # fmt: skip
RULES.words("row", ("rows", "records", "entries", "results", "ones", "of them", "lines", "row"))


@RULES.rule("part", "<_skips> <count> [<_row>|<rows>] [<_next> <count>] ; offset <count> limit <count>")
def skip(chart: Chart, *said: Any) -> Skip:
    """`skip the first 5 and show the next 10`."""
    numbers = [one for one in said if isinstance(one, int)]
    return Skip(numbers[0], numbers[1] if len(numbers) > 1 else None)


@RULES.rule(
    "part",
    "<_skips> <count> <superlative> [<_rows>|ones] [by <ordered>] <_next> <count> [<_row>|<_rows>]",
    cost=-0.3,
)
def skip_best(chart: Chart, offset: int, degree: Degree, *said: Any) -> Any:
    """`skip the 5 largest by amount and give me the next 3`: the order is that of the largest."""
    column = next((one for one in said if isinstance(one, Column)), None)
    sign = agrees(degree, column, chart.schema) if column is not None else 1
    if not sign:
        raise Unfit
    key = Key(degree, "desc", degree.said) if column is None else Key(column, "desc" if sign > 0 else "asc")
    return Order((key,)), Skip(offset, next(one for one in said if isinstance(one, int)))


@RULES.rule("part", "limit <count> offset <count>")
def limit_offset(chart: Chart, count: int, offset: int) -> Skip:
    return Skip(offset, count)


@RULES.rule(
    "part",
    "(rows|records|entries|row|lines|numbers) [from|number|numbers] <count> (to|through|-|until) <count>",
)
def rows_between(chart: Chart, first: int, last: int) -> Skip:
    """`rows 11 to 20`."""
    if last < first:
        raise Unfit
    return Skip(first - 1, last - first + 1)


@RULES.rule(
    "part",
    "page <count> [,] [with|of|at|given|if there are|assuming|for|when there are|-] <count> (per|on a|on each|to a|"
    "a) page ; page <count> [,] [with|of|at|given|if there are|assuming|-] <count> <rows> (per|on a|on each|to a|"
    "a) page ; page <count> { <count> [<rows>] (per|on a|to a|a) page } ; page <count> [,] [with] <count> (rows|"
    "entries|items|results|records) (per|on a|on each|to a|a|each) [page] ; page <count> (of|"
    "with) a page size of <count> ; page <count> , page size <count>",
)
def page(chart: Chart, number: int, *said: Any) -> Skip:
    """`page 2, with 6 products on a page`."""
    size = next(one for one in said if isinstance(one, int))
    return Skip((number - 1) * size, size)


@RULES.rule(
    "part",
    "(without duplicates|no duplicates|remove duplicates|remove duplicate rows|deduplicate|deduplicated|"
    "without duplicate rows|drop duplicates|no repeats|without repeats|without repetition|each one only once|"
    "each only once|every one only once|each one once|each once|no doubles|only once each|once each|"
    "without repeating any|with no repeats|no duplicate rows|with duplicates removed|just once each|each just once|"
    "every one once|each value once)",
)
def deduplicated(chart: Chart) -> Distinct:
    return Distinct()


@RULES.rule(
    "part",
    "(drop|remove) duplicates (by|of|on) <category> [,|and] (keep|keeping) first [one|row|of each|one of each] ;"
    " (deduplicate|dedupe) by <category> [,|and] (keep|keeping) first [one|row|of each|one of each] ;"
    " keep [only] first <_rows> (of|for|per) [each|every] <category> in table",
    cost=-0.3,
)
def first_of_each(chart: Chart, column: Column) -> Distinct:
    """`drop duplicates by city, keep the first`: whole rows, as the table has them."""
    return Distinct((column,), whole=True)


RULES.words(
    "distinctly",
    phrases(
        "all the distinct | all distinct | distinct | unique | different | deduplicated | all the different |"
        " all different | all unique | various | distinct values of | unique values of | different values of |"
        " distinct values for | the distinct values in | distinct combinations of | different combinations of |"
        " unique combinations of | all combinations of | distinct pairs of | combinations of"
    ),
)


@RULES.rule("part", "<_distinctly> <columns> [values|value|combinations|pairs|there are|we have|in the data]")
def distinct(chart: Chart, columns: tuple[Column, ...]) -> Distinct:
    """`distinct categories`, `unique combinations of city and country`."""
    return Distinct(columns)


@RULES.rule(
    "part",
    "(what|which) [different|distinct] <things> (are there|do we have|exist|are in there|are in the data|do you have|"
    "are available|are there in the data|appear|are represented|have we got|occur|do we work with|do we use|are in use|"
    "are used|do they use) ; (list|"
    "a list) of [the|all|all the|different] <things> (without duplicates|without repeats) ; <things> that (exist|"
    "there are|occur)",
    cost=-0.2,
)
def what_things(chart: Chart, things: Things) -> Distinct:
    """`what regions are there`."""
    if not things.plural:
        raise Unfit
    return Distinct((things.column,))


@RULES.rule(
    "part",
    "(a random sample of|random sample of|a sample of|sample of|sample|random|randomly chosen|chosen at random|"
    "picked at random|at random|randomly selected|randomly|any)",
    cost=0.1,
)
def sample(chart: Chart) -> Sample:
    return Sample()


@RULES.rule(
    "part",
    "(summary statistics|summary stats|a summary|summary|summarize|summarise|describe|statistics|basic statistics|"
    "descriptive statistics) [of all|of|for|on] [columns|column]",
)
def summary(chart: Chart) -> Summary:
    return Summary()


@RULES.rule(
    "part",
    "(summary statistics|summary stats|a summary|summary|summarize|summarise|describe|statistics|"
    "basic statistics) [of all|of|for|on] [the columns|the column|columns|column] <columns> [column|columns]",
    cost=-0.1,
)
def summary_of(chart: Chart, columns: tuple[Column, ...]) -> Summary:
    return Summary(columns)


RULES.words(
    "pivots",
    phrases(
        "a pivot with | pivot with | make me a pivot with | make a pivot with | make me a pivot table with |"
        " a pivot table of | pivot table of | a pivot table | pivot table | a pivot of | pivot of | pivot |"
        " a cross table | cross tab | crosstab | a matrix | matrix | make a table | a table | create a table |"
        " cross tabulate | a grid | build a table | give me a table | make a matrix | show a table | i want a table"
    ),
)
RULES.words(
    "join_up",
    phrases(
        ", with | , and | , | and | with | using | by | showing | of | where | : | having | that has | which has |"
        " for | , showing | - | and the | ;"
    ),
)


@RULES.rule(
    "part",
    "<_pivots> [please] <pivotal> <pivotal> <pivotal> ; <_pivots> [please] <pivotal> <pivotal> <pivotal> <pivotal>",
    cost=-1.0,
)
def pivot(chart: Chart, *parts: tuple[str, Any]) -> Pivot:
    """A whole pivot: its rows, its columns and what stands in its cells."""
    found = dict(parts)
    if len(found) < len(parts) or set(found) != {"rows", "columns", "cell"}:
        raise Unfit
    if found["rows"].name == found["columns"].name:
        raise Unfit
    return Pivot(found["rows"], found["columns"], found["cell"])


@RULES.rule(
    "part",
    "<figure> [as] [a] [grid|table|matrix|pivot|pivot table|cross table|crosstab] [,|:|-|with] <pivotal> <pivotal>",
    cost=-1.0,
)
def figure_pivot(chart: Chart, figure: Figure, *parts: tuple[str, Any]) -> Pivot:
    """`average score, one row per class, one column per subject`."""
    return pivot(chart, *parts, ("cell", figure))


@RULES.rule("part", "<pivots> <figure> ; <pivots> <column>", cost=0.5)
def no_pivot(chart: Chart, said: str, what: Any) -> Pivot:
    if "pivot" not in said:
        raise Unfit
    raise Refused(
        "It is not said what makes the rows, the columns and the cells of the pivot.",
        "Say: pivot with city as rows, month as columns and total sales as values.",
    )


@RULES.rule(
    "pivotal",
    "[<_join_up>] (a row per|one row per|rows for|a row for each|one row for each|rows per|a row for every|"
    "one row for every|one line per) <category> ; [<_join_up>] <category> (as|in|on|for|as the|in the|on the|"
    "down the|down) (rows|row|index|side) ; [<_join_up>] <category> down [side] ;"
    " [<_join_up>] (rows|row) [:|=|are|being|is] <category>",
)
def pivot_rows(chart: Chart, *said: Any) -> tuple[str, Column]:
    return "rows", said[-1]


@RULES.rule(
    "pivotal",
    "[<_join_up>] (a column per|one column per|columns for|a column for each|one column for each|columns per|"
    "a column for every|one column for every) <category> ; [<_join_up>] <category> (as|in|on|for|as the|in the|"
    "on the|across the|across) (columns|column|top) ; [<_join_up>] <category> across ;"
    " [<_join_up>] (columns|column) [:|=|are|being|is] <category>",
)
def pivot_columns(chart: Chart, *said: Any) -> tuple[str, Column]:
    return "columns", said[-1]


@RULES.rule(
    "pivotal",
    "[<_join_up>] <figure> [as|in|inside|for|in each] [values|value|cells|cell] ; [<_join_up>] (cells|values) [:|=|"
    "are|with|showing|being|hold|holding] <figure> ; [<_join_up>] (cells|values) (should|to) (show|hold|be|"
    "contain) <figure>",
)
def pivot_cell(chart: Chart, *said: Any) -> tuple[str, Figure]:
    return "cell", said[-1]


@RULES.rule(
    "part",
    "(round|rounded|rounding) [it|them|that|the result|the figures] [off] to [a|the nearest] (whole|full|"
    "integer) [percent|number|numbers|percentage|percentages|euro|euros|unit|units|values|minutes] ; (round|"
    "rounded) to [the nearest] (integer|integers|percent|whole numbers) ; no decimals ; without decimals ; "
    "in whole numbers",
)
def rounded(chart: Chart) -> Rounded:
    return Rounded(0)


@RULES.rule(
    "part",
    "(round|rounded|rounding) [it|them|that|the result|the figures] [off] to <count> (decimals|decimal|"
    "decimal places|digits|places|decimal digits) ; to <count> (decimals|decimal places|decimal) ; "
    "with <count> (decimals|decimal places|decimal)",
)
def rounded_to(chart: Chart, places: int) -> Rounded:
    return Rounded(places)


@RULES.rule("part", "<rows>")
def rows(chart: Chart, noun: Rows) -> Rows:
    return noun


@RULES.rule("part", "<things>", cost=0.05)
def things(chart: Chart, noun: Things) -> Things:
    return noun


@RULES.rule("part", "<test>")
def test(chart: Chart, test: Any) -> Any:
    return test
