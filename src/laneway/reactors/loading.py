"""Reactors of the owner's own: rules (`*.toml`) and code (`*.py`) in a folder, and entry points of installed packages.

What cannot be loaded is recorded and left out. A file that others may write to is refused, since it would run as us.
"""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, TypeVar

from laneway.errors import SettingsError
from laneway.reactors.border import Failed, attempted
from laneway.reactors.contract import Reactor
from laneway.reactors.rules import rules_in

GROUP = "laneway.reactors"
_LARGEST = 1_000_000
_log = logging.getLogger("laneway.reactors")
T = TypeVar("T")
Maker = Callable[[], Reactor | Iterable[Reactor]]
"""Called once for each session, since reactors remember."""


@dataclass(frozen=True, slots=True)
class Own:
    """The owner's reactors, each with its source, and what could not be loaded."""

    makers: tuple[tuple[str, Maker], ...] = ()
    faults: tuple[Failed, ...] = ()

    def make(self, on_failure: Callable[[Failed], None] = lambda _: None) -> list[Reactor]:
        """New ones for one session; one that cannot be made is recorded and left out."""
        made: list[Reactor] = []
        for source, maker in self.makers:
            found = attempted(source, lambda maker=maker: _reactors(maker()))  # type: ignore[misc]
            if isinstance(found, Failed):
                on_failure(found)
            else:
                made.extend(found)
        return made


def load(folder: Path, points: Sequence[EntryPoint] | None = None) -> Own:
    """Everything the folder and the installed packages bring, files by name first."""
    makers: list[tuple[str, Maker]] = []
    faults: list[Failed] = []
    for source, read in (*_files(folder), *_points(entry_points(group=GROUP) if points is None else points)):
        found = attempted(source, lambda read=read: list(read()), again=True)  # type: ignore[misc]
        if isinstance(found, Failed):
            found = Failed(source, found.error.removeprefix("SettingsError: "))
            _log.warning("No reactors from %s: %s", source, found.error)
            faults.append(found)
        else:
            makers.extend((source, maker) for maker in found)
    return Own(tuple(makers), tuple(faults))


def _files(folder: Path) -> Iterator[tuple[str, Callable[[], Iterable[Maker]]]]:
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.suffix in (".toml", ".py"):
            yield str(path), partial(_makers, path)


def _makers(path: Path) -> Sequence[Maker]:
    return rules_in(_text(path), path.name) if path.suffix == ".toml" else [_from_code(_text(path), path)]


def _points(points: Iterable[EntryPoint]) -> Iterator[tuple[str, Callable[[], Iterable[Maker]]]]:
    for point in points:
        yield f"entry point {point.name}", lambda point=point: [_callable(point.load(), point.value)]  # type: ignore[misc]


def _text(path: Path) -> str:
    """What the file says, if nobody but us and root could have written it."""
    _refuse_open(path.parent.stat(), path.parent)
    with path.open("rb") as file:
        # The very file that is read is looked at, not one that takes its place.
        _refuse_open(os.fstat(file.fileno()), path)
        written = file.read(_LARGEST + 1)
    if len(written) > _LARGEST:
        raise SettingsError(f"{path} is larger than a megabyte.", hint="Mend it or move it away.")
    return written.decode("utf-8-sig")


def _refuse_open(found: os.stat_result, path: Path) -> None:
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise SettingsError(f"Others may write to {path}.", hint=f"chmod go-w {path}")
    if found.st_uid not in (0, os.geteuid()):
        raise SettingsError(f"{path} belongs to somebody else.", hint=f"Make it yours: chown {path}")


def _from_code(text: str, path: Path) -> Maker:
    """The function `reactors` of a file; the file has run."""
    module: dict[str, Any] = {"__name__": f"laneway_reactors_{path.stem}", "__file__": str(path)}
    exec(compile(text, str(path), "exec"), module)  # noqa: S102  the owner's own code, in a file only the owner writes
    return _callable(module.get("reactors"), f"{path.name}: reactors")


def _callable(found: object, name: str) -> Maker:
    if not callable(found):
        raise SettingsError(f"{name} is no function.", hint="docs/adding-a-reactor.md shows one.")
    return found


def _reactors(made: Reactor | Iterable[Reactor]) -> list[Reactor]:
    found = list(made) if isinstance(made, Iterable) else [made]
    for one in found:
        if not isinstance(getattr(one, "name", None), str) or not callable(getattr(one, "handle", None)):
            raise TypeError(f"{type(one).__name__} has no name and handle(ctx).")
    return found


def load_file(path: Path) -> list[Maker]:
    """What makes the reactors of one file, rules or code; SettingsError if there are none in it."""
    if path.suffix not in (".toml", ".py"):
        raise SettingsError(f"{path.name} holds no reactors.", hint="Name a file of rules (.toml) or of code (.py).")
    return _surely(path.name, lambda: list(_makers(path)))


def made(makers: Sequence[Maker], source: str) -> list[Reactor]:
    """New reactors for one session; SettingsError if one cannot be made."""
    return _surely(source, lambda: [one for maker in makers for one in _reactors(maker())])


def _surely(source: str, call: Callable[[], list[T]]) -> list[T]:
    """What the call gives; a SettingsError says why it gives nothing."""
    found = attempted(source, call, again=True)
    if isinstance(found, Failed):
        why = found.error.removeprefix("SettingsError: ")
        raise SettingsError(f"{source}: {why}", hint="docs/adding-a-reactor.md shows one.")
    return found
