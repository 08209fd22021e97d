"""`laneway classify`: the judgement on a text, on many, and how good the judgements are.

The server judges, if one can be reached: it knows what was learnt and may ask the small model. With --no-model, and
for `eval`, this process judges, by the taxonomies and the weights in the data directory.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from laneway.cli.connection import text_of
from laneway.cli.judging import Asked, InProcess, Judging, Line, asked_in, in_process, judging, taxonomy_of
from laneway.cli.printing import plain, print_json
from laneway.errors import BadInput

if TYPE_CHECKING:
    from laneway.classify.evaluation import Case
    from laneway.classify.taxonomy import Taxonomy


class _TextUnlessNamed(TyperGroup):
    """A group whose command `text` is meant wherever no command is named."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        named = not args or args[0] in self.commands or args[0] == "--help"
        return super().parse_args(ctx, args if named else ["text", *args])


app = typer.Typer(
    cls=_TextUnlessNamed,
    help="Judge a text by a taxonomy, or measure it.\n\n"
    "`laneway classify --taxonomy NAME TEXT` is short for `laneway classify text --taxonomy NAME TEXT`.",
    subcommand_metavar="--taxonomy NAME TEXT | COMMAND [ARGS]",
    no_args_is_help=True,
)
Named = Annotated[str, typer.Option("--taxonomy", "-t", help="message, lane, function, secretary, route or your own.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command()
def text(
    taxonomy: Named,
    text: Annotated[str | None, typer.Argument(help="The text to judge; `-` reads standard input.")] = None,
    jsonl: Annotated[
        bool,
        typer.Option(
            "--jsonl",
            help='Read lines {"text"}, {"description", "args"} or {"turns": [{"author", "text"}]} '
            "and print a judgement for each.",
        ),
    ] = False,
    no_model: Annotated[
        bool, typer.Option("--no-model", help="Ask neither the server nor a model: this process judges.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Judge a text, or with --jsonl many.

    The server judges, by all that was learnt, and asks the small model where it is unsure. Without a server this
    process judges, and says so.
    """
    if (text is None) is not jsonl:
        raise BadInput("Give either a text or --jsonl.", hint="laneway classify --taxonomy message 'restart nginx'")
    # The second encoder is loaded for one text only if it is needed; for many it will be.
    with judging(taxonomy, model=not no_model, tiers=2 if jsonl else 1) as judge:
        if text is None:
            _judge_lines(taxonomy, judge)
        else:
            _show(judge.judge(Asked(text_of(text))), as_json)
            judge.tell_missing()


@app.command("eval")
def measure(
    file: Annotated[Path, typer.Argument(help="Lines like those of --jsonl, each with its true `label`.")],
    taxonomy: Named,
    no_model: Annotated[bool, typer.Option("--no-model", help="Said or not: this process judges.")] = False,
    as_json: Json = False,
) -> None:
    """Judge a file of labelled texts and print how good the judgements are.

    This process judges, without a server and without a model.
    """
    from laneway.classify.evaluation import evaluate

    judge, encode = _measured(taxonomy)
    cases = list(_cases(judge.taxonomy, file))
    judge.tell_missing()
    # Turns are more than the text of a case, and cases are judged in their order.
    waiting = iter([asked for _, asked in cases])
    found = evaluate(judge.taxonomy, [case for case, _ in cases], lambda _: judge.judged(next(waiting)), encode)
    if as_json:
        print_json(asdict(found))
    else:
        from laneway.cli.figures import show

        show(found)


def _measured(name: str) -> tuple[InProcess, Any]:
    """Who judges by this taxonomy, and the first encoder to compare texts by, if there is one."""
    from laneway.classify.local import ENCODERS
    from laneway.llm.encoders import EncoderMissing

    known = taxonomy_of(name)
    try:
        first = ENCODERS[0]()
    except EncoderMissing:
        return in_process(known, 2), None
    return in_process(known, 2, [lambda: first, *ENCODERS[1:]]), first.encode


def _judge_lines(taxonomy: str, judge: Judging) -> None:
    """Each line of standard input is answered by one line; exit code 2 if one of them could not be judged."""
    bad = False
    for raw in sys.stdin.buffer:
        if not raw.strip():
            continue
        try:
            answer = judge.judge(asked_in(taxonomy, _parsed(raw)))
        except BadInput as error:
            bad, answer = True, {"error": str(error)}
        print(json.dumps(answer, ensure_ascii=False), flush=True)
    judge.tell_missing()
    if bad:
        raise typer.Exit(2)


def _parsed(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"The line is not JSON: {error}.") from None


def _cases(taxonomy: Taxonomy, file: Path) -> Iterator[tuple[Case, Asked]]:
    """Each labelled line as a case, and what it asks about."""
    from laneway.classify.evaluation import case_of

    try:
        lines = file.read_bytes().splitlines()
    except OSError as error:
        raise BadInput(f"{file} cannot be read: {error.strerror}.") from None
    for number, raw in enumerate(lines, 1):
        if raw.strip():
            try:
                row = _parsed(raw)
                asked = asked_in(taxonomy.name, row)
                yield case_of(taxonomy, {**row, "text": asked.text}), asked
            except BadInput as error:
                raise BadInput(f"{file}, line {number}: {error.message}", hint=error.hint) from None


def _show(line: Line, as_json: bool) -> None:
    if as_json:
        print_json(line)
        return
    flags = "".join(f", {name}" for name, value in line.items() if value is True and name != "unsure")
    others = ", ".join(
        f"{label} {share:.0%}" for label, share in line["top"] if label != line["label"] and share >= 0.01
    )
    doubt = "; unsure, somebody better should be asked" if line["unsure"] else ""
    by = f"tier {line['tier']}" if isinstance(line["tier"], int) else line["tier"]
    print(plain(f"{line['label']}{flags} ({line['confidence']:.0%}, {by}, {line['ms']:.1f} ms){doubt}"))
    if others:
        print(plain(f"Else: {others}"))
