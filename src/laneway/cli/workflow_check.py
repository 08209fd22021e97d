"""`laneway workflow patch --check`: judges patches given as JSON lines, without a server and without a key."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer

from laneway.errors import BadInput

if TYPE_CHECKING:
    from laneway.lanes.workflow.checks import Verdict

LONGEST_LINE = 4_000_000


def check_lines(source: BinaryIO | None = None, target: BinaryIO | None = None) -> None:
    """Every line {"workflow", "operations"} of the input has got its verdict on a line of the output."""
    out = target or sys.stdout.buffer
    for line in _lines(source or sys.stdin.buffer):
        out.write(json.dumps(judged(line), ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
        out.flush()


def _asked(asked: bool) -> None:
    if asked:
        check_lines()
        raise typer.Exit


Check = Annotated[
    bool,
    typer.Option(
        "--check",
        help='Judge patches without a server: JSON lines {"workflow", "operations"} in, one verdict a line out.',
        callback=_asked,
        # Before any other parameter is asked for: a check needs none.
        is_eager=True,
    ),
]
"""The option of `laneway workflow patch`: where it is given, nothing else is done."""


def judged(line: bytes | None) -> dict[str, Any]:
    """The verdict on one line; None is a line that was too long to be read."""
    verdict = _verdict(line)
    return {
        "verdict": "accept" if verdict.accepted else "reject",
        "reason": verdict.reason,
        "message": verdict.message or "The patch can be applied.",
        "document": verdict.document,
    }


def _verdict(line: bytes | None) -> Verdict:
    # Here, because the other commands need not wait for it.
    from laneway.lanes.workflow.checks import patched
    from laneway.lanes.workflow.document import read

    if line is None:
        return _refused(f"The line is longer than {LONGEST_LINE} bytes.", "Send smaller workflows.")
    try:
        request = read(line, most_bytes=LONGEST_LINE)
    except BadInput as wrong:
        return _refused(wrong.message, wrong.hint)
    if not isinstance(request, dict) or not {"workflow", "operations"} <= request.keys():
        return _refused("The line is no patch.", 'Write {"workflow": {…}, "operations": […]}.')
    return patched(request["workflow"], request["operations"])


def _refused(message: str, repair: str) -> Verdict:
    from laneway.lanes.workflow.checks import Verdict
    from laneway.lanes.workflow.finding import Finding

    return Verdict(None, (Finding("json-patch", message, repair),))


def _lines(source: BinaryIO) -> Iterator[bytes | None]:
    """The lines that are not empty; of one that is too long nothing is kept."""
    while line := source.readline(LONGEST_LINE + 1):
        if len(line) > LONGEST_LINE:
            while line and not line.endswith(b"\n"):
                line = source.readline(LONGEST_LINE)
            yield None
        elif line.strip():
            yield line
