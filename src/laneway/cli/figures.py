"""How good a taxonomy was on a file of labelled texts, as tables for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from laneway.cli.printing import print_table

if TYPE_CHECKING:
    from laneway.classify.evaluation import Evaluation, Rate


def show(found: Evaluation) -> None:
    """The figures are on standard output: of all texts, then of each label."""
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
