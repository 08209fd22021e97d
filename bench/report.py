"""One figure a line, with its goal and whether it was met."""

from __future__ import annotations

import statistics
from collections.abc import Sequence


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` of all values lie."""
    return statistics.quantiles(values, n=1000, method="inclusive")[round(share * 1000) - 1]


def show(name: str, figure: float, unit: str, goal: float | None = None, *, at_least: bool = False) -> None:
    """The figure is printed; against its goal where there is one."""
    text = f"{name:<58}{figure:>10.2f} {unit:<8}"
    if goal is not None:
        met = figure >= goal if at_least else figure <= goal
        text += f" goal {'≥' if at_least else '≤'} {goal:g}: {'met' if met else 'NOT MET'}"
    print(text, flush=True)
