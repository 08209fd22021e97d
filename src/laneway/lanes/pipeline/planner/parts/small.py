"""Words around a request: how it begins and ends, what joins its parts, and what says nothing."""

from __future__ import annotations

from collections.abc import Iterator

from laneway.lanes.pipeline.planner.grammar import Chart, Edge, Rules
from laneway.lanes.pipeline.planner.names.owners import row_nouns
from laneway.lanes.pipeline.planner.parts.pieces import Filler, Opener, Tie
from laneway.lanes.pipeline.planner.phrasing import phrases, words
from laneway.lanes.pipeline.planner.spelling import participle, root
from laneway.lanes.pipeline.planner.words.small import FILLERS

RULES = Rules()
OPENERS = phrases(
    """
    can you please | could you please | can you | could you | would you | will you | please | hey | hi | hello |
    ok | okay | i would like to see | i would like to know | i would like to have | i would like | i want to see |
    i want to know | i want |
    i need to see | i need to know | i need | i am looking for | looking for | let me see | let us see | i am after |
    let me know | show me | show us | show | give me | give us | give | list out | list | get me | get | find me |
    find out |
    find | display | print | return | fetch me | fetch | pull up | bring up | tell me | what are | what is |
    what about |
    what were | what was | which are | which is | which were | which | who are | who is | who | what | i only need |
    i just need |
    look up | select | search for | see | output | retrieve | extract | pick | choose | take | i only want |
    keep | grab | filter to | filter for | filter | narrow down to | narrow it down to | restrict to | limit to |
    reduce to | just |
    calculate | compute | work out | determine | figure out | where are | now | then | make me a list of |
    make a list of |
    make a list | a list of | list of | the list of | give me a list of | give me the list of | i am interested in |
    interested in | i would love to see | would like to see | want to see | need | want | how about | do you have |
    we need | we want |
    are there any | are there | is there any | is there | do we have any | do we have | have we got any |
    have we got | any |
    the following | keep only | only keep | show only | only show | only | let me have | have a look at | count only |
    counting only | only counting |
    considering only | consider only | looking only at | look only at | look at | looking at | whom |
    could i see | could i have | may i see | can i see | can i have | can i get | could i get | please show |
    please list | please give me |
    please find | i was wondering | i wonder | quick question | a table of | an overview of | overview of | me | us |
    for me | give me all |
    show them | list them | show them all | give me those | show those | display them | we would like |
    i am trying to find |
    trying to find | could we have | could we see | what do we have | tell us | it would be great to have |
    it would be nice to see | all of the |
    i also need | also give me | also show | and also | finally | afterwards | after that | first of all | search |
    send me |
    bring me | hand me | provide | provide me with | provide a list of | compile | compile a list of | draw up | prepare
    """
)
CLOSERS = phrases(
    """
    in the table | in this table | in the data | in the dataset | in this data | in the list | in this list |
    in our records |
    in our data | in our list | for me | thanks | thank you | please | many thanks | cheers |
    from the table | from the data | from the list | of the table | of the data | in there | in the file |
    in the system |
    we have | do we have | do i have | did we have | have we got | i have | are there | is there | on record |
    were there | was there |
    on file | if you can | if possible | exist | do you have | we got | there are | there is | there were | as well |
    too | also | yet | already |
    at all | so far | right now | at the moment | currently | in general | in particular | each time | as a list |
    as a table | in a table |
    whole rows | the whole row | full rows | with all columns | all columns | with all details |
    with all their details | all details |
    that we have | we know of | you have | to me | would be great | would be nice | if that is ok | asap | and so on |
    them all | of those | of them |
    of these | from them | among them | of all of them | for those | for them | for these | in our system |
    in the catalogue | in the catalog |
    was it | is it | were they | are they | do they have | they have | did they have | does it have | it has |
    do you think | was that | is that |
    ? | ! | … | } | of all rows | over all rows | for all rows | over everything | overall please | per row |
    for each row | from there |
    to our records | in each case | there | or so it seems | with it | with them | that there are | which we have |
    we hold | we carry | month as yyyy mm | as yyyy mm | yyyy mm |
    in the form yyyy mm | rounded | bring us | brought us | bring in | earn us | get us | make us | they did | it is |
    in the cells | any more | anymore | any longer | inclusive | both included | both inclusive | both days included |
    both ends included | both dates included | including both days
    """
)


RULES.words(
    "be",
    (
        "is",
        "are",
        "was",
        "were",
        "ended as",
        "ended up as",
        "ended up",
        "ended up being",
        "turned out",
        "turned out to be",
    ),
)
RULES.words("does", ("do", "does", "did"))
RULES.words("who", ("that", "which", "who"))
RULES.words(
    "have",
    phrases(
        "with | having | has | have | had | that has | that have | who has | who have | which has | which have |"
        " that had | got | gets | get | used | using | use | uses"
    ),
)
RULES.words(
    "total", phrases("in total | altogether | overall | combined | in all | in sum | all together | taken together")
)
RULES.words("opening", OPENERS)
RULES.words(
    "opening",
    [
        f"{mind} {verb}"
        for mind in ("would you mind", "do you mind", "mind")
        for verb in phrases(
            "showing me | showing | listing | giving me | telling me | finding | getting me | sending me"
        )
    ],
)
RULES.words("closing", CLOSERS)


# Politeness, and verbs that only say show.
RULES.says("part", "<_opening>", Opener(""), -0.7)
# A clause begins anew without a comma: `for every claim that was paid show …`.
RULES.says(
    "part",
    "show ; show me ; give me ; tell me ; i want ; i need ; i would like ; display ; list ; return ; give",
    Filler("anew"),
    -0.4,
)
# Of a share it says nothing new; of anything else it would.
RULES.says(
    "part",
    "(in percent|in %|as a percentage|as percentages|as percent|in percentages|in per cent|percentage wise)",
    Filler("percent"),
    -0.7,
)
# Of a figure it says nothing new; of a column, that it is summed up.
RULES.says(
    "part",
    "(in total|altogether|overall|in all|all in all|in sum|combined|all together|taken together|summed|summed up|"
    "added up|all added up|added together)",
    Filler("in total"),
    -0.7,
)
# `hours by department, total`: where the request ends with it.
RULES.says("part", "<_last_total>", Filler("in total"), -0.7)


@RULES.finder("last_total")
def last_total(chart: Chart, at: int) -> Iterator[Edge]:
    """A comma and `total` at the very end."""
    if chart.text(at) in (",", "-") and chart.text(at + 1) in ("total", "totals", "summed") and at + 2 == chart.size:
        yield Edge(at + 2, "total")


# `months written like 2025-04`, as they are.
RULES.says(
    "part",
    "[{] [with] (months|month) (written|shown|formatted|given|displayed|named) (like|as) <_a_month> [}] ;"
    " { yyyy - mm }",
    Filler("closer"),
    -0.7,
)


@RULES.finder("a_month")
def a_month(chart: Chart, at: int) -> Iterator[Edge]:
    """A month as 2025-04."""
    if chart.tokens[at].kind == "month":
        yield Edge(at + 1, "month")


# `highest price, just the figure`: of one figure it says nothing new.
RULES.says(
    "part",
    "(just|only|as) [the|a|one] [single] (figure|number|value) ; (one|a single|single) (figure|number|value)",
    Filler("one figure"),
    -0.7,
)
# `total stock over all products`.
RULES.says("part", "(over|across) all [of] <_rows> [together|combined]", Filler("in total"), -0.7)
# `show me the full listings`: all columns, which is what is shown anyway.
RULES.says(
    "part", "(full|whole|complete|entire) <_rows> ; with all (columns|details|fields)", Filler("whole rows"), -0.5
)
# Words behind a request that say nothing about the table.
RULES.says("part", "<_closing>", Filler("closer"), -0.7)
# `… customers placed an order`, `… cities do customers live in`: each row is of one, which says nothing more.
RULES.says(
    "part",
    "(placed|made|have placed|have made|has placed|has made|made up) [a|an|any|some|one] <_rows> ; (do|are|did|does|"
    "is) <_rows> (live in|come from|work in|have|in|from|belong to|go to|fly to|use|take)",
    Filler("of rows"),
    -0.3,
)
# `do we ship`, of shipments: the verb says what the rows are anyway.
RULES.says(
    "part",
    "(do|did|have|does|has) (we|they|you|i|it) <_rowverb> [out|to|with|for|in] ; (we|they|you|i|us) <_rowverb> [out] ;"
    " (was|were|been|got) <_mere_rowverb> ; <_last_rowverb>",
    Filler("row verb"),
    -0.3,
)


@RULES.finder("rowverb")
def rowverb(chart: Chart, at: int) -> Iterator[Edge]:
    """A verb that the rows are called after."""
    form = root(chart.text(at))
    nouns = row_nouns(chart.schema)
    if len(form) > 2 and any(root(noun) == form or form in _DONE_WITH.get(noun, ()) for noun in nouns):
        yield Edge(at + 1, form)


# `the cheapest product we sell`: all of them are.
RULES.says(
    "part",
    "(we|they) (sell|stock|carry|offer|make|produce|list|hold|own|run|use) ;"
    " (do|did|have) (we|they) (sell|sold|stock|stocked|carry|offer|offered|make|made|produce|use|used)",
    Filler("ours"),
    -0.3,
)


@RULES.finder("last_rowverb")
def last_rowverb(chart: Chart, at: int) -> Iterator[Edge]:
    """The same where the request ends: `how many different employees worked?`."""
    if at and at + 1 == chart.size and participle(chart.text(at)):
        yield from chart.edges("mere_rowverb", at)


@RULES.finder("mere_rowverb")
def mere_rowverb(chart: Chart, at: int) -> Iterator[Edge]:
    """A verb that is no condition: deliveries that were delivered are those that have arrived."""
    if not chart.edges("test", at):
        yield from chart.edges("rowverb", at)


_DONE_WITH = {
    "shift": ("work",),
    "exam": ("sit", "tak"),
    "appointment": ("see", "treat"),
    "match": ("play",),
    "game": ("play",),
    "repair": ("fix",),
}
"""What is done with such rows anyway, where the verb is another word."""


_NEUTRAL = words(
    "hang hangs live lives work works stay stays sit sits stand stands operate operates belong belongs play plays"
    " study studies"
    " fly flies depart departs arrive arrives run runs exist exists fall falls lie lies living working staying based"
    " worked ran stood lived"
    " occur occurs occurred happen happens happened wear wears use uses drive drives speak speaks take takes choose"
    " chose prefer sitting standing operating playing located situated stationed placed recorded registered listed"
    " held kept stored made grown served offered found produced done conducted undertaken performed"
)
"""Verbs that only say that something is somewhere, before a place or a group."""
_LINKS = words("in at on from to for with without per by each every under within")
_PREPOSITIONS = words("with where whose for in as having amongst among when will would from on at")


@RULES.finder("part")
def filler(chart: Chart, at: int) -> Iterator[Edge]:
    """A word that says nothing where it stands alone."""
    word, token = chart.text(at), chart.tokens[at]
    if token.raw.isupper() and len(word) > 1 and word in chart.schema.vocabulary:
        # IT is a department.
        return
    if word in _HAPPENING and chart.text(at + 1) not in _LINKS and _some_undone(chart):
        # Who came is not who cancelled.
        return
    if word in FILLERS or word in _PREPOSITIONS or (word == "to" and not at):
        yield Edge(at + 1, Filler(word), -0.8)
    elif word in ("dr", "mr", "mrs", "ms", "prof") and (chart.edges("value", at + 1) or chart.edges("value", at + 2)):
        yield Edge(at + 1 + (chart.text(at + 1) == "."), Filler(word), -0.7)
    elif word == "out" and chart.text(at + 1) != "of":
        yield Edge(at + 1, Filler(word), -0.7)
    elif word == "out" and chart.edges("number", at + 2):
        yield Edge(at + 2, Filler("from"), -0.7)
    elif word in _TRADED and chart.text(at + 1) in ("at", "for") and _priced(chart, at):
        yield Edge(at + 2, Filler("at"), -0.6)
    elif (word in _NEUTRAL and chart.text(at + 1) in _LINKS) or (word in _WORKING and _hours(chart, at + 1)):
        yield Edge(at + 1, Filler(word), -0.6)


_HAPPENING = words("come comes came coming went go goes going happen happened happens occur occurred occurs")
_UNDONE = ("cancelled", "canceled", "no show", "noshow", "missed", "absent", "called off", "postponed", "skipped")


def _some_undone(chart: Chart) -> bool:
    """Whether a column tells which rows never took place, so that a verb may leave them out."""
    told = {word for column in chart.schema.columns if column.kind == "bool" for word in column.words}
    return any(word in told or word in chart.schema.vocabulary for word in _UNDONE)


_WORKING = words("working work works worked")


def _hours(chart: Chart, at: int) -> bool:
    """Whether a number of hours or days follows that a column tells: `working fewer than 35 hours a week`."""
    times = words("hour hours hrs day days")
    return any(times & set(chart.texts[at : edge.end]) for edge in chart.edges("test", at))


def _priced(chart: Chart, at: int) -> bool:
    """Whether a column of numbers follows a verb and `at`, and the verb says nothing of the rows itself."""
    after = at + 2 + (chart.text(at + 2) in ("a", "an", "the"))
    return bool(chart.edges("measure", after)) and not chart.edges("test", at)


_TRADED = words("sold bought offered rented let booked ordered")
_ALL = words("everything everyone everybody anything anyone all anybody nothing")
TIES = {
    ", and": "and", "and": "and", ",": ",", "or": "or", ", or": "or", "as well as": "and",
    "plus": "and", ", plus": "and", "and also": "and",
    ";": ".", ".": ".", "?": ".", "!": ".", ":": ",", "-": ",", "{": ",",
    ". then": "then", "then": "then", "and then": "then", ", then": "then", ", and then": "then", ", finally": "then",
    "finally": "then", "after that": "then", ". after that": "then", "afterwards": "then", "} ,": ",", "} .": ".",
    ". finally": "then", "and finally": "then", "} and": "and", ", also": "and", "} :": ",", "} ?": ".",
    ", or else": "or",
    "} -": ",", "? {": ",", ". {": ",", ", {": ",", "} then": "then", ", next": "then", "; then": "then",
}  # fmt: skip
RULES.words("tie", TIES)


@RULES.rule("part", "<tie>", cost=-0.9)
def tie(chart: Chart, word: str) -> Tie:
    """What joins two parts."""
    return Tie(word)


@RULES.finder("tie")
def but(chart: Chart, at: int) -> Iterator[Edge]:
    """`but` goes on, unless everything but something is meant."""
    start = at + (chart.text(at) == ",")
    if chart.text(start) == "but" and chart.text(at - 1) not in _ALL:
        yield Edge(start + 1, "and")
