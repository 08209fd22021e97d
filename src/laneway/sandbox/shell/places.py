"""Where a path lies: in the workspace, in scratch space, in the system, in a device, or nobody knows."""

from __future__ import annotations

import os
import re
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import lru_cache

from laneway.sandbox.shell import place_names as names
from laneway.sandbox.shell.holes import starts_with_hole, without_holes
from laneway.sandbox.shell.scope import Scope, home_of
from laneway.sandbox.shell.tables import table

_SECRETS = table("programs/secrets")["files"]["examples"].split()
_LONGEST_PATTERN = 20
_BARE_PATTERN = re.compile(r"[*?.\[\]!^-]*")


class Place(StrEnum):
    UNKNOWN = "unknown"
    HARMLESS = "harmless device"
    DEVICE = "device"
    ROOT = "root"
    GUARD = "guard"
    GIT = "git"
    WORKSPACE = "workspace"
    ABOVE = "above"
    """A folder the workspace lies in."""
    INSIDE = "inside"
    ALL_SCRATCH = "all scratch"
    SCRATCH = "scratch"
    STARTUP = "startup"
    SYSTEM = "system"
    OUTSIDE = "outside"


OURS = (Place.INSIDE, Place.WORKSPACE, Place.GIT, Place.SCRATCH, Place.ALL_SCRATCH)


def place_of(word: str, scope: Scope, *, itself: bool = False) -> Place:
    """Where a word of a command line, read as a path, leads; with `itself`, where the thing of that name lies."""
    path = scope.path(word, itself=itself)
    if path is None and names.GUARD.search(f"/{without_holes(word)}"):
        return Place.GUARD
    place = locate(path, scope)
    if place in OURS and locate(scope.spelled(word), scope) is Place.GUARD:
        return Place.GUARD
    climbs = place in (Place.SCRATCH, Place.ALL_SCRATCH) and scope.climbs(word)
    return Place.OUTSIDE if climbs else place


def locate(path: str | None, scope: Scope) -> Place:
    if path is None:
        return Place.UNKNOWN
    if names.HARMLESS_DEVICE.match(path):
        return Place.HARMLESS
    if path.startswith("/dev/") and not path.startswith("/dev/shm"):  # noqa: S108
        return Place.DEVICE
    if path == "/" or _bare(path[1:]):
        return Place.ROOT
    if names.GUARD.search(_seen_from_workspace(path, scope)):
        return Place.GUARD
    inside = _in_workspace(path, scope)
    if inside is not None:
        return inside
    scratch = names.SCRATCH.match(path)
    if scratch:
        other = _of_another_project(scratch[1], path, scope)
        return Place.OUTSIDE if other else _in_scratch(scratch[2] or "")
    if names.STARTUP.search(path):
        return Place.STARTUP
    projects = names.PROJECTS.match(scope.workspace or "")
    beside = projects is not None and path.startswith(f"{projects[0]}/")
    return Place.SYSTEM if names.SYSTEM.match(path) and not beside else Place.OUTSIDE


def _seen_from_workspace(path: str, scope: Scope) -> str:
    """A path inside the workspace as if that were all there is: it may itself lie in a folder with a telling name."""
    within = scope.workspace is not None and path.startswith(scope.workspace + "/")
    return path[len(scope.workspace or "") :] if within else path


def _bare(component: str) -> bool:
    """Whether a component is only a pattern or a hole: it may be anything, or empty."""
    return "/" not in component and _BARE_PATTERN.fullmatch(without_holes(component)) is not None


def _in_workspace(path: str, scope: Scope) -> Place | None:
    workspace = scope.workspace
    if workspace is None:
        return None
    if path == workspace:
        return Place.WORKSPACE
    if workspace.startswith(path + "/"):
        return Place.ABOVE
    if not path.startswith(workspace + "/"):
        return None
    # A sandbox calls its workspace home, but nobody logs in there.
    if names.STARTUP.search(path) and workspace == home_of(workspace):
        return Place.STARTUP
    parts = path[len(workspace) + 1 :].split("/")
    return Place.GIT if ".git" in parts else Place.INSIDE


def _of_another_project(base: str, path: str, scope: Scope) -> bool:
    """Whether a path in scratch space lies beside the project, in the folder that holds both, or in a repository."""
    parts, own = (folder[len(base) + 1 :].split("/") for folder in (path, scope.start or ""))
    if (scope.start or "").startswith(base + "/") and len(own) > 1 and own[0] == parts[0]:
        return True
    above = ["/".join([base, *parts[:count]]) for count in range(1, min(len(parts), _LONGEST_PATTERN) + 1)]
    return bool(parts[0]) and not scope.remote and any(os.path.exists(f"{folder}/.git") for folder in above)  # noqa: PTH110


def _in_scratch(rest: str) -> Place:
    first = rest.strip("/").split("/")[0]
    named = without_holes(first).strip("*?")
    return Place.SCRATCH if len(named) >= 3 or (named and first == named) else Place.ALL_SCRATCH


def regenerable(path: str, place: Place, scope: Scope) -> bool:
    """Whether a build, an installer or the program that wrote it brings back what lies there."""
    parts = [part for part in _below(path, place, scope).split("/") if part]
    if any(part in names.ALWAYS_REGENERABLE or part.endswith(".egg-info") for part in parts):
        return True
    if place is not Place.INSIDE or not parts:
        return False
    if any(part in names.REGENERABLE_HERE or names.REGENERABLE_PREFIX.fullmatch(part) for part in parts):
        return True
    last = parts[-1]
    return last in names.REGENERABLE_LAST or names.REGENERABLE_NAME.fullmatch(without_holes(last, "x")) is not None


def _below(path: str, place: Place, scope: Scope) -> str:
    if place is Place.INSIDE and scope.workspace:
        return path[len(scope.workspace) :]
    return path


@lru_cache(maxsize=4096)
def is_secret(path: str) -> bool:
    """Whether a path names a secret, or is a pattern that one of the usual names of secrets matches."""
    if names.SECRET.search(path):
        return names.NO_SECRET.search(path) is None
    return names.PATTERN.search(path) is not None and _may_be_secret(path)


def _may_be_secret(pattern: str) -> bool:
    wanted = without_holes(pattern, "*").split("/")[1:]
    everything = wanted[-1:] == ["*"] and not any(part.startswith(".") for part in wanted)
    if everything or len(wanted) > _LONGEST_PATTERN or wanted.count("**") > 3:
        return False
    home = home_of(pattern)
    return any(
        _matches(wanted, (name[1:] if name.startswith("//") else home + name).split("/")[1:]) for name in _SECRETS
    )


def _matches(pattern: list[str], path: list[str], deep: bool = False) -> bool:
    """Whether a pattern's parts match a path's; a dot in front is matched by a dot, except below `**`."""
    if not pattern or not path:
        return pattern == path
    first, *rest = pattern
    if first == "**":
        return any(_matches(rest, path[place:], True) for place in range(len(path))) or not rest
    hides = path[0].startswith(".") and not first.startswith(".") and not deep
    return not hides and fnmatchcase(path[0], first) and _matches(rest, path[1:], deep)


def named_only(word: str) -> bool:
    """Whether a word names something: it neither starts with a hole nor is one."""
    return not starts_with_hole(word)
