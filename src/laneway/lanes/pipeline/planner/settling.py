"""What a clause leaves open is settled by rule, or the request is refused; and what is shown at the end."""

from __future__ import annotations

from dataclasses import replace

from laneway.lanes.pipeline.planner.ask import Ask, Step, mentioned
from laneway.lanes.pipeline.planner.refusal import Refused
from laneway.lanes.pipeline.planner.schema import Column, Schema


def settled(ask: Ask, schema: Schema) -> None:
    """The clause means one thing; Refused if it does not."""
    _of_one_day(ask)
    _things(ask)
    _numbers(ask)
    if ask.group and not ask.grouped and (ask.superlative is None or (ask.wanted or 1) != 1):
        raise Refused("It is not said what is wanted of each group.", "Say: average price per airline, for example.")
    if ask.summary is not None and (ask.grouped or ask.columns or ask.superlative):
        raise Refused("A summary goes with nothing else.", "Ask for it alone.")
    if ask.grouped and (ask.columns or ask.distinct is not None or ask.sample):
        raise Refused("Rows and what they come to cannot both be shown.", "Ask for one of them.")
    if ask.distinct and (ask.columns or ask.superlative is not None):
        raise Refused("Different values have no rows to choose among.", "Ask for one of them.")
    if ask.columns and ask.dropped:
        raise Refused("Columns to show and columns to leave out are both named.", "Name one of the two.")


def _of_one_day(ask: Ask) -> None:
    """`latest prices` are those of the last day there is; Refused where a day holds one row, or times part it."""
    best, measured = ask.superlative, ask.valued or (ask.entity is not None and ask.entity.measure)
    plain = ask.wanted is None and ask.place is None and not (ask.grouped or ask.group)
    if best is None or best.column.kind != "date" or not (measured and plain and ask.plural):
        return
    if best.column.unique or len(str(best.column.low)) > 10:
        raise Refused(
            f"Every row may have a {best.column.name} of its own, and it is not said how many rows are wanted.",
            "Say how many: the latest 5, or: sorted by date, newest first.",
        )
    ask.entity, ask.noun, ask.wanted, ask.ties = None, "rows", 1, True


def _things(ask: Ask) -> None:
    """A noun that names a column: its different values, unless something is worked out for each."""
    if ask.entity is None or ask.grouped:
        return
    if ask.superlative is not None:
        raise Refused(
            f"`{ask.entity.name}` has several rows each, and it is not said which of them decides.",
            "Say: with the highest average …, or ask for the rows.",
        )
    if ask.columns or ask.group or ask.made:
        raise Refused(f"It is not plain what is wanted of {ask.entity.name}.", "Ask for rows, or for columns.")
    if ask.entity.measure:
        raise Refused(f"{ask.entity.name} of several rows may be listed or added up.", f"Say: total {ask.entity.name}.")
    if not ask.plural:
        raise Refused(
            f"It is not plain whether {ask.entity.name} is to be shown for each row.",
            "Say: the column …, or distinct …",
        )
    if not ask.entity.unique and not ask.opener:
        raise Refused(
            f"{ask.entity.name} repeats itself.", f"Say: distinct {ask.entity.name}, or: the {ask.entity.name} column."
        )
    if ask.entity.unique:
        ask.columns = [(ask.entity, ask.entity.name)]
        return
    if any(column.name != ask.entity.name for column, _ in ask.keys):
        raise Refused(
            f"Each {ask.entity.name} stands in several rows, which the order may part.", "Sort by what is listed."
        )
    ask.distinct = [ask.entity]


def _numbers(ask: Ask) -> None:
    """How many rows a superlative takes: the number said, one for a singular, all in order for a plural."""
    open_ = (
        ask.superlative is not None and ask.wanted is None and ask.place is None and not (ask.group and not ask.grouped)
    )
    if open_ and (not ask.plural or not ask.noun):
        ask.wanted, ask.implied = 1, True
    if ask.place is not None and ask.superlative is None:
        raise Refused("It is not said by what the places are counted.", "Say: the second cheapest, for example.")
    if ask.place is not None and ask.plural and ask.noun == "rows" and ask.wanted is None:
        raise Refused("A place and more than one row do not go together.", "Ask for one row.")
    if ask.bottom and ask.superlative is None and not ask.keys:
        raise Refused("It is not said by which column the bottom is meant.", "Say: bottom 5 by price.")
    if ask.bottom and ask.keys:
        raise Refused("`bottom` and `sorted by` may contradict each other.", "Say: the 5 with the lowest price.")
    if ask.sample and (ask.superlative or ask.offset or ask.grouped):
        raise Refused("Rows by chance have no order.", "Ask for the sample alone.")
    if ask.offset and ask.superlative is not None:
        raise Refused("Leaving out rows and a superlative do not go together.", "Say: sorted by …, skip the first 5.")


def refuse_lost_columns(steps: list[Step], columns: set[str]) -> None:
    """Returns only if each step finds the columns it needs: an earlier clause may have left them out."""
    known = set(columns)
    for step in steps:
        needed = _needed(step)
        if step["do"] == "join":
            # What it brings is called after what is there; the engine knows, and the clauses were read by it.
            return
        if not known.issuperset(needed):
            lost = min(needed - known)
            raise Refused(
                f"An earlier part of the request leaves {lost} out.", f"Show {lost} too, or ask in another order."
            )
        match step["do"]:
            case "select":
                known = set(step["columns"])
            case "rename":
                known = known - set(step["columns"]) | set(step["columns"].values())
            case "group_by":
                known = {*step["by"], *step["values"]}
            case "compute":
                known.add(step["column"])


def _needed(step: Step) -> set[str]:
    match step["do"]:
        case "select" | "rename" | "distinct" | "summarize":
            return set(step.get("columns", ()))
        case "group_by":
            return {*step["by"], *(one["column"] for one in step["values"].values() if "column" in one)}
        case "sort":
            return {key["column"] for key in step["by"]}
        case "top_k":
            return {step["by"]}
        case "filter":
            return mentioned(step["where"])
    return set()


def show_steps(ask: Ask, schema: Schema) -> tuple[list[Step], Schema]:
    """The steps that show what the clause wants shown, and the table for the clauses after it."""
    if ask.dropped:
        gone = {column.name for column in ask.dropped}
        kept = [column.name for column in schema.columns if column.name not in gone]
        if not kept:
            raise Refused("No column would be left.", "Leave out fewer.")
        return [{"do": "select", "columns": kept}], schema
    made = [Column(name, "number") for name, _ in ask.made]
    if not ask.columns:
        known = {column.name for column in schema.columns}
        more = [column for column in made if column.name not in known]
        return [], schema if ask.grouped else schema.with_columns([*schema.columns, *more])
    names = [column.name for column, _ in ask.columns] + [column.name for column in made]
    steps: list[Step] = [{"do": "select", "columns": names}]
    renamed = {column.name: name for column, name in ask.columns if column.name != name}
    if renamed:
        if set(renamed.values()) & (set(names) - set(renamed)) or len(set(renamed.values())) < len(renamed):
            raise Refused("Two columns would have the same name.", "Choose another name.")
        steps.append({"do": "rename", "columns": renamed})
    return steps, schema.with_columns([*schema.columns, *made]) if made else replace(schema)
