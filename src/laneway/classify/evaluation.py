"""How good a taxonomy is on labelled texts: how often right, how honest, how dangerous when wrong, how quick."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from laneway.classify.local import Judged
from laneway.classify.rows import Matrix
from laneway.classify.taxonomy import Taxonomy, text_of
from laneway.errors import BadInput

BINS = 10
HINT = 'A line is {"text": …, "label": …}; for functions {"description": …, "args": {…}, "label": …}.'


@dataclass(frozen=True)
class Case:
    """One text and what is true of it."""

    text: str
    label: str
    flags: dict[str, bool] = field(default_factory=dict)


@dataclass(frozen=True)
class Rate:
    """How many of how many; `sure` of them although the classifier was sure."""

    count: int
    of: int
    sure: int

    @property
    def share(self) -> float:
        return self.count / self.of if self.of else 0.0


@dataclass(frozen=True)
class ClassFigures:
    """One label: its texts, the share found, the share judged without asking, and how near the examples are."""

    rows: int
    recall: float
    coverage: float
    similarity: float | None


@dataclass(frozen=True)
class Evaluation:
    """Everything that is known about one taxonomy after one file of labelled texts."""

    taxonomy: str
    rows: int
    accuracy: float
    calibration_error: float
    coverage: float
    accuracy_when_sure: float
    classes: dict[str, ClassFigures]
    confusion: dict[str, dict[str, int]]
    dangerous: dict[str, Rate]
    false_alarms: dict[str, Rate]
    tiers: dict[int, int]
    milliseconds_p50: float
    milliseconds_p95: float
    similarity_mean: float | None
    similarity_max: float | None


@dataclass(frozen=True)
class _Seen:
    case: Case
    judged: Judged

    @property
    def right(self) -> bool:
        return self.judged.label == self.case.label

    def flagged(self, name: str) -> bool:
        return bool(self.judged.flags.get(name))


def text_in(row: Any) -> str:
    """The text a line asks about; BadInput if there is none."""
    if not isinstance(row, Mapping):
        raise BadInput("The line is not an object.", hint=HINT)
    key = "text" if "text" in row else "description"
    if not isinstance(row.get(key), str) or not isinstance(row.get("args") or {}, Mapping):
        raise BadInput(f"The line has no `{key}` that is a text, or its `args` is not an object.", hint=HINT)
    text = str(row["text"]) if key == "text" else text_of(row)
    try:
        text.encode()
    except UnicodeError:
        raise BadInput("The text is not valid Unicode.", hint="Convert it first.") from None
    return text


def case_of(taxonomy: Taxonomy, row: Any) -> Case:
    """A labelled line as a case of this taxonomy; BadInput if it is none."""
    text = text_in(row)
    label = row.get("label", row.get("intent"))
    if label not in taxonomy.names:
        raise BadInput(f"`{label}` is not a label of {taxonomy.name}.", hint=f"It has {', '.join(taxonomy.names)}.")
    flags = {flag.name: bool(row[flag.name]) for flag in taxonomy.flags if flag.name in row}
    return Case(text, str(label), flags)


def evaluate(
    taxonomy: Taxonomy,
    cases: Sequence[Case],
    judge: Callable[[str], Judged],
    encode: Callable[[Sequence[str]], Matrix] | None = None,
) -> Evaluation:
    """The figures of these cases; how near they lie to the examples is told where there is an encoder."""
    if not cases:
        raise BadInput("There are no texts to judge.", hint=HINT)
    seen = [_Seen(case, judge(case.text)) for case in cases]
    sure = [one for one in seen if not one.judged.unsure]
    near = _nearest(taxonomy, cases, encode)
    times = [one.judged.milliseconds for one in seen]
    return Evaluation(
        taxonomy=taxonomy.name,
        rows=len(seen),
        accuracy=_share_right(seen),
        calibration_error=_calibration_error(seen),
        coverage=len(sure) / len(seen),
        accuracy_when_sure=_share_right(sure),
        classes=_by_class(taxonomy, seen, near),
        confusion=_confusion(taxonomy, seen),
        dangerous=_dangerous(taxonomy, seen),
        false_alarms=_false_alarms(taxonomy, seen),
        tiers=dict(sorted(Counter(one.judged.tier for one in seen).items())),
        milliseconds_p50=statistics.median(times),
        milliseconds_p95=float(np.quantile(times, 0.95)),
        similarity_mean=float(np.mean(near)) if near is not None else None,
        similarity_max=float(np.max(near)) if near is not None else None,
    )


def _share_right(seen: Sequence[_Seen]) -> float:
    return sum(one.right for one in seen) / len(seen) if seen else 0.0


def _calibration_error(seen: Sequence[_Seen]) -> float:
    """How far confidence and being right lie apart, on average over ten bins of confidence."""
    bins: dict[int, list[_Seen]] = {}
    for one in seen:
        bins.setdefault(min(int(one.judged.confidence * BINS), BINS - 1), []).append(one)
    gaps = (abs(sum(one.judged.confidence - one.right for one in inside)) for inside in bins.values())
    return float(sum(gaps) / len(seen))


def _by_class(taxonomy: Taxonomy, seen: Sequence[_Seen], near: Matrix | None) -> dict[str, ClassFigures]:
    figures = {}
    for name in taxonomy.names:
        places = [place for place, one in enumerate(seen) if one.case.label == name]
        if places:
            own = [seen[place] for place in places]
            covered = sum(not one.judged.unsure for one in own) / len(own)
            similarity = float(np.mean(near[places])) if near is not None else None
            figures[name] = ClassFigures(len(own), _share_right(own), covered, similarity)
    return figures


def _confusion(taxonomy: Taxonomy, seen: Sequence[_Seen]) -> dict[str, dict[str, int]]:
    """For each true label how often each label was given; labels never given are left out."""
    table: dict[str, dict[str, int]] = {}
    for true in taxonomy.names:
        given = Counter(one.judged.label for one in seen if one.case.label == true)
        if given:
            table[true] = {name: given[name] for name in taxonomy.names if given[name]}
    return table


def _dangerous(taxonomy: Taxonomy, seen: Sequence[_Seen]) -> dict[str, Rate]:
    """The errors the taxonomy guards against: a flag or label missed, or a label given that is not true."""
    rates = {}
    for flag in taxonomy.flags:
        needed = [one for one in seen if one.case.flags.get(flag.name)]
        rates[f"{flag.name} missed"] = _rate(needed, [not one.flagged(flag.name) for one in needed])
    guard = taxonomy.guard
    if guard is not None and guard.most_missed is not None:
        rates[f"{guard.label} routed elsewhere"] = _missed(guard.label, seen)
    elif guard is not None:
        rates[f"{_others(taxonomy, guard.label)} taken as {guard.label}"] = _false(guard.label, seen)
    return rates


def _false_alarms(taxonomy: Taxonomy, seen: Sequence[_Seen]) -> dict[str, Rate]:
    """What the guards cost: a flag or guarded label given where it is not true, or withheld where it is."""
    rates = {}
    for flag in taxonomy.flags:
        free = [one for one in seen if one.case.flags.get(flag.name) is False]
        rates[flag.name] = _rate(free, [one.flagged(flag.name) for one in free])
    guard = taxonomy.guard
    if guard is not None:
        missed = guard.most_missed is not None
        name = guard.label if missed else _others(taxonomy, guard.label)
        rates[name] = _false(guard.label, seen) if missed else _missed(guard.label, seen)
    return rates


def _others(taxonomy: Taxonomy, label: str) -> str:
    return taxonomy.names[1 - taxonomy.names.index(label)] if len(taxonomy.names) == 2 else "others"


def _missed(label: str, seen: Sequence[_Seen]) -> Rate:
    own = [one for one in seen if one.case.label == label]
    return _rate(own, [not one.right for one in own])


def _false(label: str, seen: Sequence[_Seen]) -> Rate:
    foreign = [one for one in seen if one.case.label != label]
    return _rate(foreign, [one.judged.label == label for one in foreign])


def _rate(seen: Sequence[_Seen], wrong: Sequence[bool]) -> Rate:
    found = [one for one, is_wrong in zip(seen, wrong, strict=True) if is_wrong]
    return Rate(len(found), len(seen), sum(not one.judged.unsure for one in found))


def _nearest(
    taxonomy: Taxonomy, cases: Sequence[Case], encode: Callable[[Sequence[str]], Matrix] | None
) -> Matrix | None:
    """The cosine between each text and the example nearest to it."""
    examples = [text for text, _ in taxonomy.examples()]
    if encode is None or not examples:
        return None
    found = (encode([case.text for case in cases]) @ encode(examples).T).max(1)
    return np.asarray(found, np.float32)
