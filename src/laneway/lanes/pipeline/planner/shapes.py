"""The shapes of requests: patterns, and what each puts into the slots of what is asked.

Conditions, items and clauses are three tables; at each place the first clause that fits counts, or a word is named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from laneway.lanes.pipeline.planner import words as say
from laneway.lanes.pipeline.planner.match import SLOTS, Found, Reading, Request, Slot, check_unit
from laneway.lanes.pipeline.planner.schema import UNITS, Ask, Column, Condition, Figure, Item, join, make_test
from laneway.language.periods import Period
from laneway.language.refusal import NotUnderstood
from laneway.language.times import MONTHS
from laneway.language.tokens import singular, split_name

_OPPOSITE: Final = {
    ">": "<=", "<": ">=", ">=": "<", "<=": ">", "==": "!=", "!=": "==", "in": "not_in", "null": "not_null",
}  # fmt: skip
_NUMERIC: Final = ("number", "mixed")
BOTH_OR_EITHER: Final = ("`and` may mean both, or either.", "Name the rows once, or say `or`.")
_DENIALS: Final = frozenset(say.NOT.split("|"))
_OR_VALUE: Final = ",? or|,|and|nor in|from|of|to|for?"


def _any_of(column: Column, members: list[Any]) -> Condition:
    return make_test(column, "in", members) if len(members) > 1 else make_test(column, "==", members[0])


def refuse_empty(column: Column) -> None:
    if column.has_empty:
        raise NotUnderstood(f"`{column.name}` has empty cells: do they count?", "Say `… is missing` apart.")


def _negate(condition: Condition, column: Column) -> Condition:
    if condition.get("is") != "null" and "or" not in condition:
        refuse_empty(column)
    return {**condition, "is": by} if (by := _OPPOSITE.get(str(condition.get("is")))) else {"not": condition}


def _dated(column: Column, by: str, period: Period) -> Condition | None:
    if column.kind == "number":
        return make_test(column, by, period.year) if period.year is not None and "year" in column.words else None
    start, end = ({"date": day.isoformat()} for day in (period.start, period.end))
    low, high = make_test(column, ">=", start), make_test(column, "<", end)
    ways = {"<": make_test(column, "<", start), ">=": low, ">": make_test(column, ">=", end), "<=": high}
    return ways.get(by, {"and": [low, high]})


def _compare(request: Request, found: Found) -> Condition | None:
    column = found["column"] = found.get("column") or request.choose_measure(found["adjective"][0])
    by: str = found["operator"] if "operator" in found else ">" if found["adjective"][1] == "desc" else "<"
    measures = found["adjective"][0] if "adjective" in found else ""
    if column is None or (measures and not set(measures.split()) & set(column.words)) or request.counts_rows(column):
        return None
    if column.kind == "date":
        found["end"], more = request.one("<period>", found["end"])
        return _dated(column, by, more["period"]) if more else None
    if column.kind not in _NUMERIC:
        return None
    found["end"], more = request.one("<amount> [<suffix>]", found["end"], column)
    fits = more and not request.one("<rows>", found["end"])[1] and (by == "==" or "suffix" not in more)
    return make_test(column, more.get("suffix", by), more["amount"]) if fits else None


def _between(request: Request, found: Found) -> Condition | None:
    column, low, high = found["column"], found["first"], found["second"]
    if isinstance(low, Period):
        return {"and": [_dated(column, ">=", low), _dated(column, "<=", high)]} if column.kind == "date" else None
    if low > high:
        raise NotUnderstood(f"Nothing is between {low} and {high}.", "Say the smaller number first.")
    fits = column.kind in _NUMERIC and not request.counts_rows(column)
    return make_test(column, "between", [low, high]) if fits else None


def _equal(request: Request, found: Found) -> Condition | None:
    column: Column = found["column"]
    slot = {"number": "amount", "date": "period"}.get(column.kind, "member")
    joiners = ",? or|nor|, [in|from|of|is <again=column:0>]"
    members, found["end"] = request.read_list(slot, found["end"], joiners, of=column)
    if not members or (slot == "amount" and request.one("<rows>", found["end"])[1]):
        return None
    if slot == "period":
        return join([part for one in members if (part := _dated(column, "==", one))], "or")
    return _any_of(column, [cell for one in members for cell in one] if slot == "member" else members)


def read_member(request: Request, at: int, found: Found, __: int) -> Reading:
    value, end = next(request.read_values(at, found, 0), ([], 0))
    token = request.token(at)
    if value:
        yield [cell for _, cell in value], end
    elif token.kind == "quoted" and not request.schema.find_values(token.text):
        yield [token.text], request.skip(at) + 1


def _hold(request: Request, found: Found) -> Condition | None:
    column: Column = found["column"]
    if "textual" in found:
        fits = column.kind in ("text", "mixed")
        return {**make_test(column, found["textual"], found["text"]), "ignore_case": True} if fits else None
    missing = bool({"lacks", "null", "denied"} & found.keys())
    if "lacks" in found and request.one("<rows>", found["end"])[1]:
        return None  # "customers without open orders": it is not said of each row.
    if "has" in found and (column.table or request.one("<values>", found["end"])[1]):
        return None  # To be shown beside the rows; "with note rush": the value is meant.
    if missing and (column.hollow == "" or (column.hollow == 0 and "lacks" in found and not column.is_label)):
        return {"or": [make_test(column, "null"), make_test(column, "==", column.hollow)]}
    if column.kind == "flag" and "null" not in found:
        if missing:
            refuse_empty(column)
        truth = column.truths[missing or found.get("truth") in ("false", "no", "n", "f")]
        return None if truth == "" else make_test(column, "==", truth)
    if missing and not column.has_empty and not column.table:
        request.doubt = found["end"], NotUnderstood(f"No `{column.name}` is empty.", "Name another column or table.")
    full = "has" in found and column.hollow is None
    fits = column.has_empty and (full or missing) and not column.table
    return make_test(column, "null" if missing else "not_null") if fits else None


def _denied_flag(request: Request, found: Found) -> Condition | None:
    word, found["end"] = request.token(found["end"]).word, request.skip(found["end"]) + 1
    rests = [word.removeprefix(prefix) for prefix in ("un", "in", "non") if word.startswith(prefix)]
    columns = [one for rest in rests for one in request.schema.find_column([rest])[1] if one.kind == "flag"]
    found |= {"column": columns[0] if columns else None, "denied": word}
    return _hold(request, found) if len(columns) == 1 else None


def _number_first(request: Request, found: Found) -> Condition | None:
    if request.one("<rows>", found["end"])[1] or found.get("operator") in ("==", "!="):
        return None
    end, more = (found["end"], found) if "column" in found else request.one("<column:2>", found["end"])
    subject = request.subject if request.subject is not None and request.subject.kind in _NUMERIC else None
    measured = request.choose_measure(found["measure"]) if "measure" in found else subject or request.choose_amount()
    column = more.get("column") or measured
    after = request.token(end)
    if "column" not in more and after.kind == "word" and after.word not in say.GRAMMAR:
        column = None  # "more than 1 open order".
    if column is None or column.kind not in _NUMERIC or column.words[-1:] == ("id",) or request.counts_rows(column):
        return None
    found["end"], found["column"] = end, column
    value = check_unit(column, found["number"])
    if "second" in found:
        return make_test(column, "between", [value, check_unit(column, found["second"])])
    return make_test(column, found.get("suffix") or found["operator"], value)


def _period(request: Request, found: Found) -> Condition | None:
    subject, by_year = request.subject, found["period"].year is not None
    column = subject if subject is not None and subject.kind == "date" else request.choose_date(by_year)
    bare = by_year and not {"in", "operator"} & found.keys()
    if column is None or bare or column.kind == "day":
        return None
    if column is not subject and say.MILESTONES & {word[:3] for word in column.words}:
        request.doubt = len(request.tokens), NotUnderstood(f"Is `{column.name}` meant?", "Say the name of the date.")
        return None
    found["column"] = column
    made = _dated(column, found.get("operator", "=="), found["period"])
    return {"or": [made, _dated(column, "==", found["other"])]} if "other" in found and made else made


def _value(request: Request, found: Found) -> Condition | None:
    cells, place = found["values"], found.get("places", "")
    columns = list(dict.fromkeys(one for one, _ in cells))
    names = say.ORIGINS.get(place, frozenset())
    origins = [one for one in request.schema.columns if names & set(one.words) and not one.table]
    calls = [one for one in columns if one.own[-1:] in (("name",), ("title",))]
    if place in ("named", "called", "titled") or (calls and place in ("from", "in", "to", "at")):
        columns = calls if place in ("named", "called", "titled") else [one for one in columns if one not in calls]
    said, words, where = f"“{cells[0][1]}”", set(split_name(cells[0][1])), origins[0].name if origins else place
    if place in ("in", "on", "during") and words & set(MONTHS):
        raise NotUnderstood(f"{said} may be a month.", f"Say `{columns[0].name} is …`, or the year.")
    if not columns:
        raise NotUnderstood(f"{said} is {'a' if calls else 'no'} name.", "Name the column.")
    columns = [one for one in columns if one in origins] or columns
    end, more = request.one("as|in? <column:2>", found["end"])
    if more and more["column"] in columns:
        columns, found["end"] = [more["column"]], end
    if len(columns) > 1:
        listed = ", ".join(f"`{one.name}`" for one in columns[:5])
        raise NotUnderstood(f"{said} stands in {listed}.", "Say which, like `COLUMN is VALUE`.")
    column = found["column"] = columns[0]
    if (origins or place == "to") and column not in origins:
        raise NotUnderstood(f"`{where}` has no {said}.", f"Did you mean `{column.name} is …`?")
    verbal = {"be", "not"} & found.keys() or request.token(found["end"]).word in ("to", "by", "from", "at")
    rivals = [one for one in request.schema.columns if one.kind in ("date", "flag") and words <= set(one.words)]
    if verbal and rivals:
        raise NotUnderstood(f"{said} may be `{column.name}` or `{rivals[0].name}`.", "Say `COLUMN is VALUE`.")
    at = request.one(_OR_VALUE, found["end"])[0]
    others, end = request.read_list("member", at, _OR_VALUE, of=column) if at > found["end"] else ([], at)
    found["end"] = end if others else found["end"]
    return _any_of(column, [cell for one, cell in cells if one == column] + [cell for one in others for cell in one])


_HEAD: Final = "$be? <not>? $be? on|of|with|in|by|either? <column> column|field|that|which? "
_TAIL: Final = "$be? <not2=not>? "
_IN: Final = "$be? in~in|during|from|on|of|within|for|over "
CONDITIONS: Final[list[tuple[str, Callable[[Request, Found], Condition | None]]]] = [
    ("of|for? $be? <not>? <column:2> [is|are|=|==|: truth~true|yes|false|no|t|f|y|n]", _hold),
    ("lacks~without|missing|lacking|with_no|has_no|have_no|having_no|had_no|no <column:2>", _hold),
    ("<column:2> is|are|was|were? <not>? null~missing|empty|null|blank|unknown|not_known|not_set|not_given", _hold),
    ("of|for? $be?", _denied_flag),
    (_HEAD + "<textual> substring|word|text|letters? <text>", _hold),
    (_HEAD + _TAIL + "between|from <first=amount> and|to|- <second=amount>", _between),
    (_HEAD + _TAIL + "between|from <first=period> and|to|- <second=period>", _between),
    (_HEAD + _TAIL + "<operator>", _compare),
    (_HEAD + _TAIL + "<operator=time>", _compare),
    (_HEAD + _TAIL + "<adjective:0> than", _compare),
    (_HEAD + _TAIL + "=|==|:|equals|either|of|in|on|at|during?", _equal),
    ("$be? <not>? <operator> <column:2>", _compare),
    ("$be? <not>? <adjective:0> than", _compare),
    ("$be? <not>? <measure>? <operator> <number>", _number_first),
    ("$be? <measure>? <number> <suffix>", _number_first),
    ("$be? <measure>? between <number> and|to|- <second=number>", _number_first),
    ("$be? <operator=time> <period>", _period),
    (_IN + "<period> [or in? <other=period>]", _period),
    ("<period>", _period),
    ("$be? <not>? $be? $places? <values>", _value),
    ("has~have|has|had|with <column:2>", _hold),
]


def read_condition(request: Request, at: int, _: Found, __: int) -> Reading:
    for pattern, make in CONDITIONS:
        for end, found in request.match(pattern, at):
            found = {**found, "end": end}
            made = make(request, found)
            if made is not None:
                request.subject = found.get("column", request.subject)
                yield (_negate(made, found["column"]) if "not" in found or "not2" in found else made), found["end"]
                return


def read_conditions(request: Request, at: int, _: Found, __: int) -> Reading:
    """Conditions joined by `and` or by `or`; both together may mean two things."""
    parts: list[Condition] = []
    joiners: set[str] = set()
    end, joiner, denied, kind = at, "", False, False
    while (one := next(read_condition(request, at, {}, 0), None)) is not None:
        joiners |= {joiner} - {""}
        if joiner == "or" and (denied or request.one("<values>", at)[1]):
            raise NotUnderstood("It is not plain what `or` joins.", "Say `COLUMN is VALUE` for each.")
        word, before = request.tokens[one[1] - 1].word, kind
        kind = one[0].get("is") in ("==", "in") and not str(one[0]["value"]).lower().endswith(word)
        kind = kind and singular(word) != word
        if joiner == "and" and (kind or before) and one[0].get("column") != parts[-1].get("column"):
            raise NotUnderstood(*BOTH_OR_EITHER)  # "Students and gold members".
        denied |= bool(_DENIALS & {token.word for token in request.tokens[at : one[1]]})
        parts.append(one[0])
        end = one[1]
        at, found = request.one(",? joiner~and|or|but $links? [<rows> &<condition>]", end)
        if "rows" in found and found["joiner"] == "and":
            raise NotUnderstood(*BOTH_OR_EITHER)
        at = at if found else request.one(",", end)[0]
        joiner = "or" if found.get("joiner") == "or" else "and"
        if at == end:
            break
    if joiners == {"and", "or"}:
        raise NotUnderstood("`and` and `or` in one condition may mean two things.", "Ask for them one after the other.")
    if parts:
        yield join(parts, "or" if joiners == {"or"} else "and"), end


def _column(request: Request, found: Found) -> list[Item]:
    column, word = found["column"], request.tokens[found["end"] - 1].word
    rest = set(column.words) - {singular(word)}
    if found["end"] - request.skip(found["at"]) == 1:
        modifies = singular(word) in UNITS or rest <= {"id", "no", "ref", "tag", "key", "type", "number"}
        if (rest and modifies) or request.names_rows(found["at"]):
            return []
    exact = next(request.read_column(found["at"], {}, 0), (None,))[0] == column
    if not exact and request.token(found["at"]).word in say.FIGURES.keys() | say.BEST.keys():
        return []
    after = request.tokens[found["end"]].word if found["end"] < len(request.tokens) else ""
    if not column.table and request.noun != word and after and request.schema.is_noun([after]):
        return []  # "paid orders".
    if len(column.words) == 1 and word in say.FIGURES.keys() | say.BEST.keys() | {"count", "number"}:
        raise NotUnderstood(f"`{column.name}` may be the column, or a figure of others.", "Ask for it by another name.")
    return [column]


def _count_column(request: Request, found: Found) -> list[Item]:
    column: Column = found["column"]
    if "distinct" not in found and column.kind == "flag":
        request.doubt = found["end"], NotUnderstood(f"`{column.name}` is yes or no.", "Count `rows where … is yes`.")
        return []
    if "distinct" not in found and column.kind in _NUMERIC and not column.is_label:
        if "total" in found or found["count"].startswith("total"):
            return [Figure("sum", column)]
        hint = f"Say `total {column.name}`, or `number of rows`."
        raise NotUnderstood(f"`{column.name}` holds a number: is it to be added up, or rows counted?", hint)
    return [Figure("count") if "distinct" not in found and column.is_unique else Figure("count_distinct", column)]


def _figures(request: Request, found: Found) -> list[Item]:
    column, names = found["column"], found["figures"]
    if names in (["min"], ["max"]) and request.one("<rows>", found["end"])[1]:
        return []  # "the highest capacity stadium" is a row.
    is_id = bool({"id", "code", "zip", "phone", "uid", "ssn", "key", "postcode"} & set(column.words))
    no_sum = column.is_label or {"unit", "rate", "avg", "average", "pct", "percent"} & set(column.words)
    big = "at" in found and request.token(found["at"]).word in ("largest", "biggest", "greatest", "smallest")
    if (column.is_label and big) or (column.table and set(names) - {"min", "max"}):
        return []  # A row that is looked up often would count often.
    named = bool(no_sum) and ("sum" in names or ((is_id or column.is_running) and {"mean", "median"} & set(names)))
    if named or (column.kind != "number" and not (column.kind == "date" and set(names) <= {"min", "max"})):
        why = f"The values of `{column.name}` {'do not add up' if named else 'are no numbers'}."
        request.doubt = found["end"], NotUnderstood(why, "Name a column of amounts.")
        return []
    return [Figure(do, column) for do in names]


ITEMS: Final[list[tuple[str, Callable[[Request, Found], list[Item]]]]] = [
    ("<distinct>? <column:2>", _column),
    ("total? $count <rows>", lambda _, __: [Figure("count")]),
    ("total~total? $count <distinct>? <column:3>", _count_column),
    ("<figures> <column:3>", _figures),
    ("<figures> value_of|values_of|amount_of|number_of|of <column:3>", _figures),
    ("count|frequency", lambda r, _: [] if any(c.words == ("count",) for c in r.schema.columns) else [Figure("count")]),
]


def read_item(request: Request, at: int, _: Found, __: int) -> Reading:
    for pattern, make in ITEMS:
        for end, found in request.match(pattern, at):
            made = make(request, {**found, "end": end, "at": at})
            if made:
                yield (made, "distinct" in found and make is _column), end


def read_key(request: Request, at: int, _: Found, __: int) -> Reading:
    pattern = "[<before=direction> order_of?] <item> [,? in|from|sorted? <after=direction> order?]"
    for end, found in request.match(pattern, at):
        if len(found["item"][0]) == 1:
            yield (found["item"][0][0], found.get("after") or found.get("before") or ""), end


def _list_of(slot: str, joiners: str) -> Slot:
    def read(request: Request, at: int, _: Found, __: int) -> Reading:
        found, end = request.read_list(slot, at, joiners)
        yield from [(found, end)] if found else []

    return read


def read_columns(request: Request, at: int, _: Found, far: int) -> Reading:
    columns, end = request.read_list("column", at, ",? and?", limit=far)
    exact, _end = request.read_list("column", at, ",? and?", limit=0)
    if columns and all(one.kind != "number" or (one in exact and not one.is_unique) for one in columns):
        yield columns, end


def read_table_name(request: Request, at: int, _: Found, __: int) -> Reading:
    word = singular(request.token(at).word)
    for name in request.tables:
        if word and word == singular(name.lower()):
            yield name, request.skip(at) + 1


SLOTS.update(condition=read_condition, conditions=read_conditions, columns=read_columns, table=read_table_name)
SLOTS.update(item=read_item, items=_list_of("item", "$joiners show|list|give|also?"), key=read_key, member=read_member)
SLOTS.update(keys=_list_of("key", ",? and? then? by?"), figures=_list_of("figure", ",? and?"))


def _limit(ask: Ask, request: Request, found: Found) -> bool:
    value = found["number"].value if "number" in found and not found["number"].unit else 1 - ("number" in found)
    before = request.tokens[found["at"] - 1].word if found["at"] else ""
    said = "end" in found or before in say.ASKING
    if ask.number is not None or not said or not isinstance(value, int) or not 0 < value <= 1_000_000:
        return False
    ask.number, ask.end = value, found.get("end", "")
    return True


def _order(ask: Ask, request: Request, found: Found) -> bool:
    direction = found.get("direction", "")
    if "adjective" in found:
        measured = request.choose_measure(found["adjective"][0])
        ask.order = [one for one in ask.order if one != (measured, "asc")]
        ask.order += [(measured, found["adjective"][1])] if measured else []
        return measured is not None and len(ask.order) == 1
    if "keys" in found:
        ask.order += [(key, own or direction or "asc") for key, own in found["keys"]]
    elif ask.order:
        ask.order = [(key, direction) for key, _ in ask.order]
    else:
        ask.direction = direction
    return True


def _by(ask: Ask, request: Request, found: Found) -> bool:
    if ask.sorting and not ask.order:
        return _order(ask, request, found)
    key, direction = found["keys"][0]
    has_figure = any(isinstance(one, Figure) for one in ask.items)
    measures = isinstance(key, Figure) or key.kind in ("number", "date")
    plain = ask.end == "top" or not direction
    if ask.number is None or ask.best or len(found["keys"]) > 1 or has_figure or not measures or not plain:
        return False
    ask.best = key, direction or ("asc" if ask.end in ("bottom", "first") else "desc")
    return True


def _group(ask: Ask, request: Request, found: Found) -> bool:
    has_figure = any(isinstance(one, Figure) for one in ask.items)
    if "by" in found and (not has_figure or request.names_rows(found["at"] + 1)):
        return False
    ask.group += [one for one in found["columns"] if one not in ask.group]
    return True


def _best(ask: Ask, request: Request, found: Found) -> bool:
    beside = bool(ask.items) and "and" in (request.tokens[found["at"]].word, request.tokens[found["at"] - 1].word)
    if (beside and "linked" not in found) or ask.best is not None or ask.end in ("first", "last", "bottom"):
        return False
    word = found.get("best", "")
    direction = say.BEST[word] if word else found["adjective"][1]
    column: Column | None = found.get("column")
    if "adjective" in found:
        measured = request.choose_measure(found["adjective"][0])
        other = column is not None and (column != measured or "linked" not in found)
        if measured is None or other or ("number" in found and ask.number):
            return False
        ask.by_adjective = "linked" not in found
        ask.best, ask.number = (measured, direction), found["number"].value if "number" in found else ask.number
    elif "figure" in found:
        figures = _figures(request, {"column": column, "figures": [found["figure"]], "end": len(request.tokens)})
        ask.best = (figures[0], direction) if figures else None
    elif column is not None:
        few = word in ("most", "fewest", "least")
        fits = column.kind in ("number", "date") and not request.schema.is_noun(column.words)
        ask.best = (column, direction) if fits and (few or ask.number or {"linked", "rows"} & found.keys()) else None
    elif "counted" in found or word in ("most", "fewest", "least"):
        ask.items += found.get("columns", [])
        ask.best = Figure("count"), direction
    return ask.best is not None


def _having(ask: Ask, _: Request, found: Found) -> bool:
    figure = found["item"][0][0] if "item" in found else Figure("count")
    by = found.get("suffix") or found.get("operator")
    if not isinstance(figure, Figure) or (figure.column is None and found["number"].unit) or by is None:
        return False
    value = found["number"].value if figure.column is None else check_unit(figure.column, found["number"])
    ask.having.append((figure, by, value))
    return True


def _where(ask: Ask, _: Request, found: Found) -> bool:
    said = bool({"who", "that", "which"} & {found.get("links")}) or bool(_.one("<adjective:0> than", found["at"])[1])
    lone = ask.items[0] if len(ask.items) == 1 and ask.last == "select" and not _.noun and said else None
    if ask.last in ("lacking", "sort"):
        return False  # Whose condition it is cannot be told; "ordered this month" sorts nothing.
    if isinstance(lone, Column) and lone.kind == "text" and not lone.is_unique:
        raise NotUnderstood("It is not plain whose condition this is.", "Say `rows where COLUMN is …`.")
    if ask.denied and ask.last == "where":
        raise NotUnderstood("It is not plain how far the `not` goes.", "Say `COLUMN is not VALUE and COLUMN is …`.")
    ask.denied = bool(_DENIALS & {one.word for one in _.tokens[found["at"] : found["stop"]]})
    ask.where.append(found["conditions"])
    ask.items += [Figure("count")] if "count" in found else []
    return True


def _rows(ask: Ask, request: Request, found: Found) -> bool:
    noun = request.schema.noun
    if not ask.last and ask.where and request.tokens[found["at"] - 1].word == "and":
        raise NotUnderstood(*BOTH_OR_EITHER)
    if noun and found["rows"] == noun[-1] and "verb" in found and not ask.items:
        # "Which airline …" asks for its name, where a column is called just so.
        ask.items += [one for one in request.schema.columns if one.words == noun and not one.table]
    return True


def _select(ask: Ask, _: Request, found: Found) -> bool:
    beside = bool(_.noun) and not ask.items and _.tokens[found["at"] - 1].word == "and"
    if beside or ask.last in ("rows", "where", "best", "group", "order", "having", "by", "select", "limit"):
        return False  # A name that no word leads to says nothing about what is shown.
    ask.items += [one for items, _ in found["items"] for one in items if one not in ask.items]
    ask.distinct |= any(distinct for _, distinct in found["items"])
    return True


def _look_up(ask: Ask, request: Request, found: Found) -> bool:
    added = [one for items, _ in found["items"] for one in items]
    if ask.items or not all(isinstance(one, Column) and one.table for one in added):
        return False
    ask.items = [*(one for one in request.schema.columns if not one.table), *added]
    return True


def _join(ask: Ask, request: Request, found: Found) -> bool:
    names = [found[name] for name in ("table", "other") if name in found and found[name] != request.schema.name]
    if not names or ("lacking" in found and not request.noun):
        return False  # Who lacks it is not known.
    setattr(ask, "lacking" if "lacking" in found else "joined", names[0])
    return True


def _take(ask: Ask, _: Request, found: Found) -> bool:
    ask.sorting |= "sort" in found
    return True


_LINK: Final = "and? that|which|who|with|having|whose? is|are|was|were|did|does|had? "
_LINKED: Final = "linked~has|have|had|with|having|shared_by|used_by|of"
_COUNTED: Final = "counted~number_of|numbers_of|count_of|amount_of"
_ON: Final = " [on|by|using|over|via <column:0>]"
_RANGE: Final = "of|for|from|in|across|among|about|by|on|to? join|all|each|every|any|these|those|only|just?"
CLAUSES: Final[list[tuple[str, str, Callable[[Ask, Request, Found], bool]]]] = [
    ("limit", "end~top|first|bottom|last <number> <rows>?", _limit),
    ("limit", "end~top|bottom <rows>", _limit),
    ("limit", "<number> <rows>", _limit),
    ("limit", "<number> &<best>", _limit),
    ("limit", "<number> &<adjective:1>", _limit),
    ("order", "$sort? in|from? <direction> order? [of|by|according_to <keys>]", _order),
    ("order", "<adjective:1> first", _order),
    ("sort", "$sort it|them|the_results|results?", _take),
    ("join", "and? join|combine|merge|match with|to? <table> [with|and|to <other=table>]" + _ON, _join),
    ("lacking", "that|who|which? lacking~without|with_no|have_no|has_no any|matching? <table>", _join),
    ("having", "$links? $be? shared_by|used_by|there_are? <operator>? <number> <suffix>? <rows>", _having),
    ("having", "$links? $be? <item> is|are|was|of? <operator> <number>", _having),
    ("best", _LINK + "<best> counted~common|frequent|often|popular|commonly <columns:2>?", _best),
    ("best", _LINK + f"{_LINKED}? <best> {_COUNTED}? <column:3> [<rows>]", _best),
    ("best", _LINK + f"{_LINKED}? <best> {_COUNTED}? <rows>", _best),
    ("best", _LINK + f"{_LINKED}? <best> <figure> <column:3>", _best),
    ("best", "<adjective:1> <number> &<rows>", _best),
    ("best", _LINK + f"{_LINKED}? <adjective:1> [<column:2>]", _best),
    ("best", "whose|where|with|and? <column:3> linked~is|are|was|were <best>", _best),
    ("by", "by|based_on|in_terms_of|according_to <keys>", _by),
    ("group", "by~by each|every? <columns:2>", _group),
    ("group", "is|are|was|were? $group <distinct>? <columns:2>", _group),
    ("where", "$links <rows>? <conditions>", _where),
    ("where", "<conditions>", _where),
    ("select", "$count <conditions=condition> <rows>", _where),
    ("rows", f"verb~which|what|give|find|show|return [{_RANGE}] <rows>", _rows),
    ("rows", f"{_RANGE} <rows>", _rows),
    ("select", "<items>", _select),
    ("select", "with|including|plus|and <items>", _look_up),
    ("verb", "$verbs", _take),
    ("filler", "$fillers", _take),
    ("", ".|?|!|;|:|,|,_and|and|-|(|)", _take),
]


def read_ask(request: Request) -> Ask:
    ask, at, did = Ask(), 0, False
    for token in request.tokens:
        did |= token.word in ("did", "does", "do")
        values = {cell for _, cell in request.schema.find_values(token.text)}
        verb = request.schema.is_noun([token.word]) and singular(token.word) != request.schema.noun[-1]
        verb = did and token.text.islower() and bool(verb or token.word == "return" or values)
        if verb or (token.word in say.ARTICLES and token.text in values):
            raise NotUnderstood(f"`{token.text}` may be a value or not.", "Say `rows where COLUMN is VALUE`.")
    while at < len(request.tokens):
        start, at = at, next(_read_clause(ask, request, at), 0)
        if not at:
            raise request.name_lost_word(start)
    if not ask.best and (ask.end == "bottom" or (ask.end == "top" and ask.number == 1 and not ask.order)):
        raise NotUnderstood(f"It is not said what the {ask.end} is by.", f"Say `{ask.end} {ask.number} by COLUMN`.")
    who = request.tokens[0].word == "who" and not ask.items and not say.PERSONS & set(request.schema.noun)
    if who or [one.word for one in request.tokens[-2:]] == ["who", "ordered"]:
        raise NotUnderstood("It is not said which column tells who.", "Say the name of the column.")
    return ask


def _read_clause(ask: Ask, request: Request, at: int) -> Iterator[int]:
    for name, pattern, fill in CLAUSES:
        subject = request.subject
        for end, found in request.match(pattern, at):
            if end > at and fill(ask, request, {**found, "at": at, "stop": end}):
                ask.last = name
                request.noun = found.get("rows", request.noun)
                yield end
        request.subject = subject
