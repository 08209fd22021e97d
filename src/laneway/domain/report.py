"""Tells a person what a job had done when it ended before its end."""

from __future__ import annotations

from collections.abc import Sequence

from laneway.domain.judgement import Effect, EffectState

MOST = 10


def what_was_done(effects: Sequence[Effect]) -> str:
    """What was done and what was cut off, in one sentence each; empty if there was nothing."""
    ended = [effect.about or effect.tool for effect in effects if effect.state is EffectState.DONE]
    cut = [effect.about or effect.tool for effect in effects if effect.state is not EffectState.DONE]
    done = f"Done before: {_listed(ended)}." if ended else ""
    uncertain = f"Cut off, so it may or may not have happened: {_listed(cut)}." if cut else ""
    return " ".join(part for part in (done, uncertain) if part)


def _listed(what: list[str]) -> str:
    return "; ".join(what[:MOST]) + (f" and {len(what) - MOST} more" if len(what) > MOST else "")
