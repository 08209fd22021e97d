"""What was worked out before: `that average`, `how many it is`, `the count`."""

from __future__ import annotations

from collections.abc import Iterator

from laneway.lanes.pipeline.planner.grammar import Chart, Edge, Rules
from laneway.lanes.pipeline.planner.names.columns import best
from laneway.lanes.pipeline.planner.parts.pieces import That
from laneway.lanes.pipeline.planner.phrasing import phrases
from laneway.lanes.pipeline.planner.refusal import Unfit
from laneway.lanes.pipeline.planner.spelling import stem

RULES = Rules()
_THAT = phrases(
    """
    average | figure | number | total | count | sum | value | amount | share | percentage | difference |
    gap | ratio | rate
    """
)
RULES.words(
    "whatever",
    {f"{which} {word}": f"{which} {word}" for word in _THAT for which in ("that", "this", "the", "its", "their")},
)
RULES.words(
    "whatever",
    phrases(
        """
        those figures | the averages | the totals | the counts | the figures | the result | how many | how many it is |
        how many is it | how many there are | how many they have | how much | how much it is | in how many |
        how many of them |
        how often | how many each | how many that is | how many times | it
        """
    ),
)


@RULES.rule("item", "<whatever>", cost=0.1)
def that(chart: Chart, said: str) -> That:
    """`that average`, `how many it is`."""
    return That(said)


@RULES.rule(
    "item",
    "how many <_rows> [each|they|it|each of them] [has|have|had|got|made|wrote|placed|that is|it is|there are|<_deed>]",
    cost=0.3,
)
def that_many(chart: Chart) -> That:
    return That("how many")


@RULES.rule("item", "<_mere_name>", cost=0.4)
def its_name(chart: Chart) -> That:
    """The name of the things that are listed, where no column is called so."""
    if best(("name",), chart.schema):
        raise Unfit
    return That("name")


@RULES.finder("mere_name")
def mere_name(chart: Chart, at: int) -> Iterator[Edge]:
    """`name` by itself: a customer name is no customer_id."""
    if chart.text(at) in ("name", "names") and not best((stem(chart.text(at - 1)),), chart.schema):
        yield Edge(at + 1, "name")
