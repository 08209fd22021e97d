"""What `laneway doctor` says of the owner's own reactors: they are really loaded, as whoever watches would."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from laneway.cli.checks import Finding
from laneway.reactors.border import Failed
from laneway.reactors.loading import Own


def own_reactors(own: Own) -> Iterator[Finding]:
    """One finding for all that could be loaded, and one for each that could not; none if there are none."""
    failed = list(own.faults)
    names = [one.name for one in own.make(failed.append)]
    if names:
        yield Finding("reactors", "ok", f"Besides those that come with Laneway: {', '.join(names)}.")
    for fault in failed:
        yield _left_out(fault)


def _left_out(fault: Failed) -> Finding:
    return Finding(
        f"reactor {Path(fault.reactor).name}",
        "fail",
        f"It is left out: {fault.error}",
        "docs/adding-a-reactor.md shows how one is written.",
    )
