"""What one taxonomy decided on a text, whoever decided it: rules, the local classifier, the small model."""

from __future__ import annotations

from dataclasses import dataclass, field

from laneway.classify.local import Judged
from laneway.classify.model import Said

SURE = 0.6
POSSIBLE = 0.1
"""A label below this probability is not offered to a person who is asked."""
MOST_CHOICES = 3


@dataclass(frozen=True)
class Decided:
    """One decision by one taxonomy; `top` are the labels with their probabilities, the likeliest first."""

    label: str
    confidence: float
    decided_by: str
    sure: bool
    summary: str = ""
    plan: str = ""
    flags: dict[str, bool] = field(default_factory=dict)
    top: list[tuple[str, float]] = field(default_factory=list)
    milliseconds: float = 0.0

    @property
    def runner_up(self) -> str | None:
        return next((label for label, _ in self.top if label != self.label), None)

    @property
    def choices(self) -> list[str]:
        """What it may be, if nobody is sure: two or three labels to ask about, or none."""
        likely = [label for label, share in self.top if share >= POSSIBLE][:MOST_CHOICES]
        return likely if not self.sure and len(likely) > 1 else []


def locally(found: Judged) -> Decided:
    """What the local classifier decided."""
    by = "rules" if found.tier == 0 else f"local tier {found.tier}"
    return Decided(found.label, found.confidence, by, not found.unsure, flags=found.flags, top=found.top)


def of_model(said: Said, cheap: Decided, by: str, flags: dict[str, bool]) -> Decided:
    """The model's word; where it is unsure itself, the person is offered its label and the one before."""
    others = [(label, share) for label, share in cheap.top if label != said.label] or [(cheap.label, cheap.confidence)]
    top = [(said.label, said.confidence), *((label, share) for label, share in others if label != said.label)]
    return Decided(said.label, said.confidence, by, said.confidence >= SURE, said.summary, said.plan, flags, top)
