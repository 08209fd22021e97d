"""A command line taken apart: flags, options with values, operands."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field


@dataclass(slots=True)
class Options:
    """What stands on a command line after the program's name."""

    flags: set[str] = field(default_factory=set)
    values: dict[str, list[str]] = field(default_factory=dict)
    operands: list[str] = field(default_factory=list)

    def has(self, *names: str) -> bool:
        return any(name in self.flags or name in self.values for name in names)

    def of(self, *names: str) -> list[str]:
        """Every value given by any of these names."""
        return [value for name in names for value in self.values.get(name, [])]


def options(args: Sequence[str], valued: Collection[str] = (), *, until_operand: bool = False) -> Options:
    """The command line by its options; `valued` names those that take a value. A cluster `-rf` is `-r` and `-f`.

    With `until_operand`, the first operand ends the options, as for programs that run another one.
    """
    found = Options()
    rest = list(args)
    while rest:
        word = rest.pop(0)
        if word == "--":
            found.operands += rest
            break
        if not word.startswith("-") or word == "-":
            found.operands.append(word)
            if until_operand:
                found.operands += rest
                break
        elif word.startswith("--") or word in valued:
            _long(found, word, rest, valued)
        else:
            _cluster(found, word, rest, valued)
    return found


def _long(found: Options, word: str, rest: list[str], valued: Collection[str]) -> None:
    name, equals, value = word.partition("=")
    if equals and (name.startswith("--") or name in valued):
        found.values.setdefault(name, []).append(value)
    elif name in valued:
        found.values.setdefault(name, []).append(rest.pop(0) if rest else "")
    else:
        found.flags.add(word)


def _cluster(found: Options, word: str, rest: list[str], valued: Collection[str]) -> None:
    found.flags.add(word)
    for place in range(1, len(word)):
        flag = f"-{word[place]}"
        if flag in valued:
            value = word[place + 1 :]
            found.values.setdefault(flag, []).append(value if value else rest.pop(0) if rest else "")
            return
        found.flags.add(flag)
