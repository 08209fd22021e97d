"""Which programs, so called, provably only read this machine and send nothing: stricter than what rules let pass."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

from laneway.sandbox.shell.holes import has_hole, may_be_option, starts_with_hole
from laneway.sandbox.shell.invocation import Invocation
from laneway.sandbox.shell.programs.proven_git import git_only_reads
from laneway.sandbox.shell.programs.proven_scripts import awk_only_reads, sed_only_reads
from laneway.sandbox.shell.steering import names_plainly
from laneway.sandbox.shell.tables import table

_TABLE = table("programs/proven")
_ALWAYS = frozenset(_TABLE["always"].split())
_UNLESS = {name: frozenset(words.split()) for name, words in _TABLE["unless"].items()}
_ONLY = {name: re.compile(pattern, re.DOTALL) for name, pattern in _TABLE["only"].items()}
_WRAPPERS = {name: re.compile(pattern) for name, pattern in _TABLE["wrappers"].items()}


def _date(run: Invocation) -> bool:
    """Whether date only prints: a word that is no format sets the clock."""
    words = list(run.args)
    while words:
        word = words.pop(0)
        if word in ("-d", "-r", "--date", "--reference"):
            words = words[1:]
        elif not _DATE.fullmatch(word):
            return False
    return True


_DATE = re.compile(
    r"-I\w*|-u|-R|--(utc|universal|rfc-email|iso-8601(=\w+)?|rfc-3339=\w+)|-[dr].+|--(date|reference)=.*|\+.*",
    re.DOTALL,
)
_CHECKS = {
    "git": git_only_reads, "date": _date, "sed": sed_only_reads, "gsed": sed_only_reads,
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), awk_only_reads),
}  # fmt: skip
_DECLARING = {"export", "declare", "typeset", "readonly", "local", "let", "getopts"}
_SYSTEM = re.compile(r"(/usr(/local)?)?/s?bin/[^/]+")
_LONGEST = 2000
"""Characters of arguments; no honest question is longer, and hostile ones would keep a pattern busy."""
_ASKED = ({"--version"}, {"--help"}, {"-V"})


def proven(run: Invocation) -> bool:
    """Whether this program, so called, provably leaves everything as it was and tells nobody else anything."""
    name = run.program
    if name in _DECLARING:
        return names_plainly(run)
    if set(run.args) in _ASKED and _known(name):
        return True
    check = _CHECKS.get(name)
    if check is not None:
        return check(run)
    if name in _UNLESS:
        return not any(_is_denied(word, _UNLESS[name]) for word in _not_patterns(run.args, _UNLESS[name]))
    line = " ".join(run.args)
    if name in _ONLY and len(line) <= _LONGEST and _ONLY[name].fullmatch(line):
        return names_plainly(run) and not any(has_hole(word) or may_be_option(word) for word in run.args)
    return name in _ALWAYS and names_plainly(run)


def proven_wrapper(run: Invocation, inside: list[str], *, runs: bool) -> bool:
    """Whether a wrapper does nothing but run what is inside it, on this machine."""
    if not runs:
        return proven(run)
    pattern = _WRAPPERS.get(run.program)
    if pattern is None:
        return False
    before = run.args[: len(run.args) - len(inside)]
    words = [word for word in before if not re.match(r"\w+=", word)]
    if run.program == "timeout" and words:
        words = words[:-1] if not has_hole(words[-1]) else words
    return pattern.fullmatch(" ".join(words)) is not None


def is_of_the_system(name: str) -> bool:
    """Whether a program is named plainly, or lies where the system keeps its programs."""
    return ("/" not in name or _SYSTEM.fullmatch(name) is not None) and not name.endswith(".exe")


def _known(name: str) -> bool:
    return name in _ALWAYS or name in _UNLESS or name in _ONLY or name in _CHECKS or name in _ANSWERING


_ANSWERING = frozenset(_TABLE["answering"].split())
"""Programs known to answer --version and --help and do nothing else then."""


def _not_patterns(args: list[str], denied: frozenset[str]) -> list[str]:
    """The words but those that follow an option for a pattern and, as patterns of file names, match no denied word."""
    following = zip(["", *args], args, strict=False)
    return [
        word
        for before, word in following
        if before not in _PATTERNS or starts_with_hole(word) or any(fnmatchcase(one, word) for one in denied)
    ]


_PATTERNS = {"-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex", "-g", "--glob", "-e", "--include"}


def _is_denied(word: str, denied: frozenset[str]) -> bool:
    """Whether a word is, abbreviates, bundles or may turn out to be one of these options."""
    if may_be_option(word) or word.startswith("@") or word in denied:
        return True
    if word.startswith("--"):
        name = word.partition("=")[0]
        return len(name) > 2 and any(one == name or (one.startswith(name)) for one in denied)
    if not word.startswith("-") or any(one.startswith("-") and len(one) > 3 and one[1] != "-" for one in denied):
        return False
    return any(len(one) == 2 and one[1] in word[1:] for one in denied)
