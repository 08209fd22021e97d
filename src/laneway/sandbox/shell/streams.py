"""What flows through a pipe: its text where that is known, the paths it lists, and where it comes from."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from laneway.sandbox.shell.holes import hole

NETWORK, FILE, SECRET, ENVIRONMENT, COMMAND, DECODED, ENDLESS = (
    "net", "file", "secret", "env", "cmd", "decoded", "endless",
)  # fmt: skip

PROCESSES = "processes"
"""A list of all processes that nobody has picked from."""


@dataclass(frozen=True, slots=True)
class Stream:
    """Output of one command, input of the next."""

    text: str | None = None
    """All of it, where the command line tells."""
    paths: tuple[str, ...] = ()
    """What it lists, one a line, as path patterns."""
    origins: frozenset[str] = field(default_factory=frozenset)
    file: str | None = None
    """The one file it is the content of."""
    given: bool = True
    """Whether there is any: a command without a pipe or a redirection reads nothing of ours."""

    def from_(self, *origins: str) -> Stream:
        """The same, come from there too; its text is no longer known."""
        return Stream(None, (), self.origins | frozenset(origins))

    @property
    def known(self) -> bool:
        return self.text is not None

    def as_hole(self) -> str:
        """The stream as a word nobody knows, by its worst origin."""
        for origin in (PROCESSES, SECRET, ENVIRONMENT, NETWORK, DECODED, FILE):
            if origin in self.origins:
                return hole(origin)
        return hole(COMMAND)


NOTHING = Stream("", given=False)
UNKNOWN = Stream(None, (), frozenset({COMMAND}))


def text(content: str, *origins: str) -> Stream:
    return Stream(content, (), frozenset(origins))


def listing(*paths: str) -> Stream:
    return Stream(None, paths, frozenset({COMMAND}))


def merged(first: Stream, second: Stream) -> Stream:
    """Two outputs after one another."""
    if not first.given or first.text == "":
        return replace(second, origins=first.origins | second.origins)
    if not second.given or second.text == "":
        return replace(first, origins=first.origins | second.origins)
    joined = None if first.text is None or second.text is None else first.text + second.text
    both = first.paths + second.paths if first.paths and second.paths else ()
    return Stream(joined, both, first.origins | second.origins)
