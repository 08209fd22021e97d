"""Losing and overwriting files: what a path means when something is removed from it or written to it."""

from __future__ import annotations

from collections.abc import Iterator

from laneway.sandbox.shell import place_names as names
from laneway.sandbox.shell.holes import has_hole, shown
from laneway.sandbox.shell.places import OURS, Place, locate, place_of, regenerable
from laneway.sandbox.shell.rules import Finding
from laneway.sandbox.shell.scope import Scope

_REMOVAL = {
    Place.DEVICE: ("disk-device", "It removes the device {0}."),
    Place.ROOT: ("lose-root", "It removes everything under the root of the file system."),
    Place.GUARD: ("guard-file", "It removes {0}, which holds permissions or hooks."),
    Place.GIT: ("lose-git", "It removes {0} from the repository's own store, and with it history."),
    Place.WORKSPACE: ("lose-work", "It removes the workspace itself ({0})."),
    Place.ABOVE: ("lose-outside", "It removes {0}, and with it the workspace and what lies beside it."),
    Place.INSIDE: ("lose-work", "It removes {0}, which no build brings back."),
    Place.ALL_SCRATCH: ("lose-scratch", "It clears scratch space that others use too ({0})."),
    Place.STARTUP: ("startup-file", "It removes {0}, which counts at every login."),
    Place.OUTSIDE: ("lose-outside", "It removes {0}, which lies outside the workspace."),
}
_WRITING = {
    Place.DEVICE: ("disk-device", "It writes to the device {0}."),
    Place.ROOT: ("system-files", "It writes to the root of the file system."),
    Place.GUARD: ("guard-file", "It writes {0}, which holds permissions or hooks."),
    Place.GIT: ("lose-git", "It writes {0} into the repository's own store."),
    Place.STARTUP: ("startup-file", "It writes {0}, which counts at every login."),
    Place.SYSTEM: ("system-files", "It writes {0}, a file of the system."),
    Place.ABOVE: ("write-outside", "It writes to {0}, which lies outside the workspace."),
    Place.OUTSIDE: ("write-outside", "It writes {0}, which lies outside the workspace."),
}


def removes(word: str, scope: Scope) -> Iterator[Finding]:
    """What is found when the thing a word names is removed for good."""
    path, place = scope.path(word, itself=True), place_of(word, scope, itself=True)
    if path in scope.links:
        return
    if path is not None and path in scope.moved:
        path = scope.moved[path]
        place = locate(path, scope)
    if path is None:
        if not _named_cache(word):
            yield Finding("unknown-target", f"It removes {shown(word)}, and the text does not tell what that is.")
    elif place in (Place.INSIDE, Place.SYSTEM, Place.OUTSIDE) and regenerable(path, place, scope):
        return
    elif place is Place.SYSTEM:
        whole = path.count("/") == 1 or path.rstrip("/*").count("/") == 1
        yield Finding("lose-root" if whole else "lose-outside", f"It removes {shown(word)}, a part of the system.")
    elif place is Place.GIT and path.endswith(".lock"):
        return
    elif place in _REMOVAL:
        rule, why = _REMOVAL[place]
        yield Finding(rule, why.format(shown(word)))


def _named_cache(word: str) -> bool:
    """Whether a path that begins with an unknown folder ends in something every build brings back."""
    last = word.rstrip("/").rpartition("/")[2]
    return "/" in word and last in names.ALWAYS_REGENERABLE


def writes(
    word: str, scope: Scope, *, empties: bool = False, appends: bool = False, itself: bool = False
) -> Iterator[Finding]:
    """What is found when the file a word leads to is written, or emptied; or the thing of that name replaced."""
    path, place = scope.path(word, itself=itself), place_of(word, scope, itself=itself)
    if path is None and place is not Place.GUARD:
        if not appends:
            yield Finding("unknown-target", f"It overwrites {shown(word)}, and the text does not tell what that is.")
        return
    if path is None:
        path = word
    if path.startswith(("/dev/tcp/", "/dev/udp/")):
        return
    if place in (Place.SYSTEM, Place.OUTSIDE) and (regenerable(path, place, scope) or _own_noise(path)):
        return
    if place in (Place.SYSTEM, Place.OUTSIDE, Place.ABOVE) and locate(scope.spelled(word), scope) in OURS:
        yield Finding("path-link", f"{shown(word)} leads to {shown(path)}, outside the workspace.")
    elif place in _WRITING:
        rule, why = _WRITING[place]
        yield Finding(rule, why.format(shown(word)))
    elif empties and place is Place.INSIDE and not regenerable(path, place, scope):
        last = path.rpartition("/")[2]
        if last not in names.EMPTY_BY_NATURE and not has_hole(last):
            yield Finding("truncate-work", f"It empties {shown(word)}.")


def _own_noise(path: str) -> bool:
    return path.startswith(("/proc/self/", "/dev/fd/"))
