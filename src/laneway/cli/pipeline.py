"""`laneway pipeline run`: a request about tables is planned and carried out here, without a server or a model."""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from laneway.cli.printing import plain, print_json, print_table
from laneway.clock import SystemClock, local
from laneway.errors import BadInput, LanewayError

if TYPE_CHECKING:
    from laneway.lanes.pipeline.plan import Plan
    from laneway.lanes.pipeline.tables import Outcome

app = typer.Typer(help="Ask for something about tables, in words.", no_args_is_help=True)
Tables = dict[str, Any]

MAIN = "data"
"""What the table is called that has no name."""
MOST_SHOWN = 50
"""Rows people are shown; programs get all of them."""
_BY_DATA = (LookupError, TypeError, ValueError, ArithmeticError, RecursionError, MemoryError)
"""Faults of ours that odd data brings about; any exception whatever is caught at the four borders only."""


@app.callback()
def pipeline() -> None:
    """Keeps `run` a command of its own, whatever others join it."""


@app.command()
def run(
    prompt: Annotated[
        str | None, typer.Option("--prompt", "-p", help="What you want to see, in plain English.")
    ] = None,
    files: Annotated[
        list[str] | None,
        typer.Option(
            "--data", "-d", help="A JSON, NDJSON or CSV file, `-` for standard input; NAME=FILE names the table."
        ),
    ] = None,
    jsonl: Annotated[
        bool,
        typer.Option(
            "--jsonl",
            help='Read lines {"prompt", "data", "tables"?} from --data or standard input and answer each with one line '
            '{"rows", "plan", "error"?}.',
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: rows, plan, sentence and row counts.")] = False,
) -> None:
    """Carry out a request about tables.

    What is not understood whole is refused with a reason; nothing is guessed. Works without a server, a key or a model.
    """
    given = files or []
    if jsonl:
        if prompt is not None or len(given) > 1:
            raise BadInput(
                "--jsonl reads its requests from lines.", hint="Leave out --prompt, and name at most one file."
            )
        _answer_lines(given[0] if given else "-")
        return
    if prompt is None:
        raise BadInput(
            "Say what you want to see.", hint="laneway pipeline run --prompt 'the 5 cheapest' --data flights.csv"
        )
    _answer_one(prompt, _tables(given or ["-"]), as_json)


def _answer_one(prompt: str, tables: Tables, as_json: bool) -> None:
    """The answer is on standard output; a refusal ends with exit code 1."""
    from laneway.lanes.pipeline.plan import sentence

    try:
        plan, outcome = _carried_out(prompt, tables)
    except _NotPlanned as refused:
        if as_json:
            print_json({"rows": None, "plan": None, "error": refused.error})
        else:
            print(plain(f"Not done: {refused.error['message']} {refused.error['hint']}"), file=sys.stderr)
        raise typer.Exit(1) from None
    if as_json:
        counts = [count.document() for count in outcome.counts]
        print_json({"rows": list(outcome.rows), "plan": plan.document(), "sentence": sentence(plan), "counts": counts,
                    "notes": list(outcome.notes)})  # fmt: skip
    else:
        _show(sentence(plan), outcome)


class _NotPlanned(Exception):
    def __init__(self, error: dict[str, str]) -> None:
        super().__init__(error["message"])
        self.error = error


def _carried_out(prompt: str, tables: Tables) -> tuple[Plan, Outcome]:
    """The plan and what came of it."""
    from laneway.lanes.pipeline import tables as engine
    from laneway.lanes.pipeline.planner import Refusal, planned

    plan = planned(prompt, tables, local(SystemClock().now()).date())
    if isinstance(plan, Refusal):
        raise _NotPlanned(plan.document())
    try:
        return plan, engine.run(plan, tables)
    except LanewayError as error:
        raise _NotPlanned({"type": error.code, "message": error.message, "hint": error.hint}) from None


def _show(sentence: str, outcome: Outcome) -> None:
    rows = outcome.rows[:MOST_SHOWN]
    titles = list(dict.fromkeys(column for row in rows for column in row))
    print(plain(sentence))
    print("Rows: " + ", ".join(plain(f"{count.rows:,} ({count.step})") for count in outcome.counts))
    for note in outcome.notes:
        print(plain(note))
    print()
    print_table(
        [plain(title) for title in titles], ([row.get(title) for title in titles] for row in rows), empty="No rows."
    )
    if len(outcome.rows) > MOST_SHOWN:
        print(f"… and {len(outcome.rows) - MOST_SHOWN:,} more; --json prints all.")


def _tables(given: list[str]) -> Tables:
    """The tables the options name, each read whole."""
    tables: Tables = {}
    for one in given:
        name, file = _named(one)
        if name in tables:
            raise BadInput(
                f"Two tables are called {name}.", hint="Name them: --data orders=FILE --data customers=FILE."
            )
        tables[name] = _rows(file)
    if len(given) == 1 and "=" not in given[0] and given[0] != "-":
        # A single file is the table, and its name says what the rows are.
        return {Path(given[0]).stem or MAIN: next(iter(tables.values()))}
    return tables


def _named(option: str) -> tuple[str, str]:
    name, found, file = option.partition("=")
    if found and name and "/" not in name and not Path(option).exists():
        return name, file
    return (MAIN if option == "-" else Path(option).stem), option


def _rows(file: str) -> Any:
    from laneway.lanes.pipeline.reading import format_of, rows_of

    try:
        content = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise BadInput(f"{file} cannot be read: {error.strerror}.") from None
    name = "" if file == "-" else file
    shape = format_of(name, head=content[:64])
    if not content.strip():
        return []
    return rows_of(content, shape, "Standard input" if file == "-" else file)


def _answer_lines(file: str) -> None:
    """Each line is answered by one line; exit code 2 if one of them was no request, or broke something here."""
    bad = False
    try:
        with _lines(file) as lines:
            for raw in lines:
                if raw.strip():
                    answer, wrong = _line(raw)
                    bad = bad or wrong
                    print(answer, flush=True)
    except OSError as error:
        raise BadInput(f"{file} cannot be read: {error.strerror}.") from None
    if bad:
        raise typer.Exit(2)


def _lines(file: str) -> IO[bytes]:
    return open(0, "rb", closefd=False) if file == "-" else Path(file).open("rb")


def _line(raw: bytes) -> tuple[str, bool]:
    """The line that answers one, whatever its data do to us; and whether something is wrong with it, or with us."""
    try:
        answer, wrong = _answered(raw)
        return json.dumps(answer, ensure_ascii=False), wrong
    except _BY_DATA as error:
        # Whoever sends lines counts the answers, and the next line is not to blame.
        at = traceback.extract_tb(error.__traceback__)[-1]
        print(plain(f"{type(error).__name__} at {at.filename}:{at.lineno}: {error}"), file=sys.stderr)
        hint = "This is a mistake in Laneway: please report it, with the line. Ask in other words meanwhile."
        told = {"type": "internal", "message": f"An unexpected {type(error).__name__} stopped it.", "hint": hint}
        return json.dumps({"rows": None, "plan": None, "error": told}), True


def _answered(raw: bytes) -> tuple[dict[str, Any], bool]:
    """The answer to one line, and whether the line itself was wrong."""
    try:
        prompt, tables = _asked(raw)
    except BadInput as error:
        return {
            "rows": None,
            "plan": None,
            "error": {"type": error.code, "message": error.message, "hint": error.hint},
        }, True
    try:
        plan, outcome = _carried_out(prompt, tables)
    except _NotPlanned as refused:
        return {"rows": None, "plan": None, "error": refused.error}, False
    return {"rows": list(outcome.rows), "plan": plan.document()}, False


def _asked(raw: bytes) -> tuple[str, Tables]:
    from laneway.lanes.pipeline.lines import loads

    try:
        line = loads(raw)
    except (ValueError, RecursionError) as error:
        raise BadInput(
            f"The line is not JSON: {str(error)[:200]}.", hint='Write {"prompt": …, "data": [rows]}.'
        ) from None
    prompt = (line.get("prompt") or line.get("task")) if isinstance(line, dict) else None
    if not isinstance(prompt, str):
        raise BadInput("The line has no `prompt`.", hint='Write {"prompt": …, "data": [rows]}.')
    named = line.get("tables")
    if named is not None and not isinstance(named, Mapping):
        raise BadInput("`tables` is no object.", hint='Write {"tables": {"orders": [rows]}}.')
    tables = dict(named or {})
    if line.get("data") is not None:
        # A table that is given twice, once as the data, is one table.
        twin = next((name for name, rows in tables.items() if rows == line["data"]), None)
        tables = {MAIN: line["data"], **tables} if twin is None else tables
    for name, rows in tables.items():
        _check(name, rows)
    return prompt, tables


def _check(name: str, rows: Any) -> None:
    if not isinstance(rows, list) or not _objects(rows):
        raise BadInput(f"{name[:60]} is not a list of rows.", hint='A row is written {"column": value, …}.')


def _objects(rows: Iterable[Any]) -> bool:
    return all(isinstance(row, dict) for row in rows)
