"""A process of its own that looks for a pattern in texts it is given; run by path, it needs nothing of Laneway.

A pattern can be so made that trying it takes forever, and Python cannot interrupt that within a process. So it is
tried here, where the only thing to lose is a process that can be ended. On standard input: one line of JSON with the
pattern and the limits, then for each text one line of JSON with its path and length, and its bytes. On standard
output: one line of JSON for each match.
"""

from __future__ import annotations

import json
import re
import sys


def main() -> None:
    """Every matching line is on standard output, up to the limit."""
    given, answers = sys.stdin.buffer, sys.stdout
    asked = json.loads(given.readline())
    pattern = re.compile(asked["pattern"], re.IGNORECASE if asked["ignore_case"] else 0)
    left, longest = int(asked["most"]), int(asked["longest"])
    while header := given.readline():
        one = json.loads(header)
        content = given.read(one["bytes"])
        for number, line in enumerate(content.decode("utf-8", errors="replace").splitlines(), start=1):
            if pattern.search(line):
                found = {"path": one["path"], "line": number, "text": line[:longest]}
                answers.write(json.dumps(found) + "\n")
                answers.flush()
                left -= 1
                if left == 0:
                    return


if __name__ == "__main__":
    main()
