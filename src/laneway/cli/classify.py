"""`laneway classify`: the judgement on a text, on many, and how good the judgements are.

No server is needed: the taxonomies and the weights trained from them lie in the data directory.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from laneway.classify.prepare import cache_of
from laneway.cli.connection import text_of
from laneway.cli.home import home_of
from laneway.cli.printing import one_line, print_json, print_table
from laneway.errors import BadInput

if TYPE_CHECKING:
    from laneway.classify.evaluation import Case, Evaluation, Rate
    from laneway.classify.local import Judged, LocalClassifier
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
        typer.Option("--jsonl", help='Read lines {"text"} or {"description", "args"} and print a judgement for each.'),
    ] = False,
    no_model: Annotated[
        bool,
        typer.Option("--no-model", help="Ask no model. None is asked anyway: only the server asks one, when unsure."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Judge a text, or with --jsonl many."""
    if (text is None) is not jsonl:
        raise BadInput("Give either a text or --jsonl.", hint="laneway classify --taxonomy message 'restart nginx'")
    known, classifier = _classifier(taxonomy)
    if text is None:
        _judge_lines(known, classifier)
        return
    asked = text_of(text)
    # What the judgement takes is told, and not what loading takes.
    classifier.warm([taxonomy], 1)
    judged = classifier.judge(taxonomy, asked)
    _tell_missing(classifier)
    if as_json:
        print_json(as_line(known, judged))
    else:
        print(_sentence(known, judged))


@app.command("eval")
def measure(
    file: Annotated[Path, typer.Argument(help="Lines like those of --jsonl, each with its true `label`.")],
    taxonomy: Named,
    as_json: Json = False,
) -> None:
    """Judge a file of labelled texts and print how good the judgements are."""
    from laneway.classify.evaluation import evaluate

    known, classifier, encode = _measured(taxonomy)
    cases = list(_cases(known, file))
    classifier.warm([taxonomy], 2)
    _tell_missing(classifier)
    found = evaluate(known, cases, lambda asked: classifier.judge(taxonomy, asked), encode)
    if as_json:
        print_json(asdict(found))
    else:
        _show(found)


def as_line(taxonomy: Taxonomy, judged: Judged) -> dict[str, Any]:
    """A judgement as programs read it."""
    flags = {flag.name: bool(judged.flags.get(flag.name)) for flag in taxonomy.flags}
    return {
        "label": judged.label,
        **flags,
        "confidence": round(judged.confidence, 4),
        "tier": judged.tier,
        "unsure": judged.unsure,
        "top": [[label, round(share, 4)] for label, share in judged.top],
        "ms": judged.milliseconds,
    }


def _classifier(name: str) -> tuple[Taxonomy, LocalClassifier]:
    from laneway.classify.local import LocalClassifier

    known = _taxonomy(name)
    return known, LocalClassifier({name: known}, cache_of(home_of(os.environ)))


def _measured(name: str) -> tuple[Taxonomy, LocalClassifier, Any]:
    """The same, with the first encoder to compare texts by, if there is one."""
    from laneway.classify.local import ENCODERS, LocalClassifier
    from laneway.llm.encoders import EncoderMissing

    known, cache = _taxonomy(name), cache_of(home_of(os.environ))
    try:
        first = ENCODERS[0]()
    except EncoderMissing:
        return known, LocalClassifier({name: known}, cache), None
    return known, LocalClassifier({name: known}, cache, [lambda: first, *ENCODERS[1:]]), first.encode


def _taxonomy(name: str) -> Taxonomy:
    from laneway.classify.taxonomy import load

    taxonomies = load(home_of(os.environ))
    if name not in taxonomies:
        raise BadInput(f"There is no taxonomy `{one_line(name)}`.", hint=f"There are {', '.join(sorted(taxonomies))}.")
    return taxonomies[name]


def _tell_missing(classifier: LocalClassifier) -> None:
    for sentence in classifier.missing:
        print(f"Judged without an encoder: {sentence}", file=sys.stderr)


def _judge_lines(taxonomy: Taxonomy, classifier: LocalClassifier) -> None:
    """Each line of standard input is answered by one line; exit code 2 if one of them could not be judged."""
    from laneway.classify.evaluation import text_in

    classifier.warm([taxonomy.name], 2)
    bad = False
    for raw in sys.stdin.buffer:
        if not raw.strip():
            continue
        try:
            answer = as_line(taxonomy, classifier.judge(taxonomy.name, text_in(_parsed(raw))))
        except BadInput as error:
            bad, answer = True, {"error": str(error)}
        print(json.dumps(answer, ensure_ascii=False), flush=True)
    _tell_missing(classifier)
    if bad:
        raise typer.Exit(2)


def _parsed(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"The line is not JSON: {error}.") from None


def _cases(taxonomy: Taxonomy, file: Path) -> Iterator[Case]:
    from laneway.classify.evaluation import case_of

    try:
        lines = file.read_bytes().splitlines()
    except OSError as error:
        raise BadInput(f"{file} cannot be read: {error.strerror}.") from None
    for number, raw in enumerate(lines, 1):
        if raw.strip():
            try:
                yield case_of(taxonomy, _parsed(raw))
            except BadInput as error:
                raise BadInput(f"{file}, line {number}: {error.message}", hint=error.hint) from None


def _sentence(taxonomy: Taxonomy, judged: Judged) -> str:
    flags = "".join(f", {flag.name}" for flag in taxonomy.flags if judged.flags.get(flag.name))
    others = ", ".join(f"{label} {share:.0%}" for label, share in judged.top if label != judged.label and share >= 0.01)
    doubt = "; unsure, somebody better should be asked" if judged.unsure else ""
    told = f"{judged.label}{flags} ({judged.confidence:.0%}, tier {judged.tier}, {judged.milliseconds:.1f} ms){doubt}"
    return f"{told}\nElse: {others}" if others else told


def _show(found: Evaluation) -> None:
    near = "" if found.similarity_mean is None else f", at most {found.similarity_max:.2f}"
    lines = [
        ("texts", str(found.rows)),
        ("right", f"{found.accuracy:.1%}"),
        ("sure (coverage)", f"{found.coverage:.1%}"),
        ("right when sure", f"{found.accuracy_when_sure:.1%}"),
        ("calibration error", f"{found.calibration_error:.1%}"),
        *((f"dangerous: {name}", _rate(rate)) for name, rate in found.dangerous.items()),
        *((f"false alarms: {name}", _rate(rate)) for name, rate in found.false_alarms.items()),
        ("latency", f"p50 {found.milliseconds_p50:.1f} ms, p95 {found.milliseconds_p95:.1f} ms"),
        ("decided by", ", ".join(f"tier {tier}: {count}" for tier, count in found.tiers.items())),
        ("nearest example", f"cosine {_cosine(found.similarity_mean)} on average{near}"),
    ]
    print_table((found.taxonomy.upper(), ""), lines, empty="")
    print()
    rows = [
        (name, one.rows, f"{one.recall:.0%}", f"{one.coverage:.0%}", _cosine(one.similarity), _taken(found, name))
        for name, one in found.classes.items()
    ]
    print_table(("LABEL", "TEXTS", "FOUND", "SURE", "NEAREST", "TAKEN FOR"), rows, empty="", wrapped="TAKEN FOR")


def _rate(rate: Rate) -> str:
    return f"{rate.share:.1%} ({rate.count} of {rate.of}; {rate.sure} while sure)"


def _cosine(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.2f}"


def _taken(found: Evaluation, name: str) -> str:
    return ", ".join(f"{other} {count}" for other, count in found.confusion[name].items() if other != name)
