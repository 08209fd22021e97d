"""The command `laneway`: a client of the HTTP API, and the way to start and examine a server.

One file per command, listed in `commands.py`; nothing heavy is imported before a command needs it, so that
`laneway --help` is quick and `laneway send` never loads the engine. Most commands speak HTTP through
`laneway.client` (`connection.py` finds the server and the key) and print for people or, with `--json`, for
programs (`printing.py`). `up` and `worker` run Laneway itself: `lifetime.py` hears signals, `start.py` prepares
the database, `log_lines.py` writes the log, `home.py` keeps a second `up` out. `doctor` makes the `checks.py`.

Exit codes: 0 done; 1 it did not work; 2 the input or a setting is wrong; 3 the server or the database cannot be
reached; 130 ended by Ctrl-C. `up` and `worker` end with 0 when SIGTERM asked them to, and with 143 or 130 when a
second signal ended them at once. `run` ends with the agent's own code, or with one that says why it ended the agent.
"""

from __future__ import annotations

import os
import sys
import time

BEGAN = time.monotonic()
"""When this command began, to tell how long a start took."""


def main() -> None:
    """The command line has been carried out, and the process ends with its exit code."""
    if sys.argv[1:3] == ["hooks", "call"]:
        # An agent waits for this one before every tool call: nothing is imported that it does not need.
        from laneway.cli.hook_call import run

        sys.exit(run(sys.argv[3:]))
    # Numpy reads this when it is imported. Its threads wait for each other by spinning: with two of them on two busy
    # cores a text took ten times the processor time to encode.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        from laneway.cli.commands import app
        from laneway.errors import LanewayError
    except KeyboardInterrupt:
        # So early nobody else hears it.
        sys.exit(130)

    try:
        app(prog_name="laneway")
    except KeyboardInterrupt:
        sys.exit(130)
    except LanewayError as error:
        print(f"Error: {error}", file=sys.stderr)
        sys.exit(exit_code(error))


def exit_code(error: Exception) -> int:
    """The exit code that tells a script what kind of error ended the command."""
    from laneway.errors import BadInput, Unavailable

    if isinstance(error, BadInput):
        return 2
    return 3 if isinstance(error, Unavailable) else 1
