"""What `laneway doctor` looks at: one function per check, each from plain values to one finding.

A finding is ok, warn (works, but look at it) or fail (something does not work), one sentence, and how to mend it.
"""

from __future__ import annotations

import shutil
import stat
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from laneway.errors import LanewayError, SettingsError

if TYPE_CHECKING:
    from laneway.domain.conversation import Principal
    from laneway.store.workers import Worker

State = Literal["ok", "warn", "fail"]
OLDEST_PYTHON = (3, 11)
MOST_CLOCK_SECONDS = 2.0
LITTLE_BUDGET = 0.1
START = "Start with `laneway up`."


@dataclass(frozen=True)
class Finding:
    """The outcome of one check."""

    check: str
    state: State
    says: str
    fix: str = ""


def python_version(version: tuple[int, ...]) -> Finding:
    """Whether this Python is one Laneway runs on."""
    number = ".".join(map(str, version[:3]))
    if version < OLDEST_PYTHON:
        return Finding("python", "fail", f"Python {number} is too old.", "Install Python 3.11 or newer.")
    return Finding("python", "ok", f"Python {number}.")


def settings_right(environ: Mapping[str, str]) -> Finding:
    """Whether every setting is known and has a possible value."""
    from laneway.settings import Settings

    try:
        Settings.load(environ)
    except SettingsError as error:
        return Finding("settings", "fail", error.message, error.hint or "Correct it; docs/settings.md lists them all.")
    return Finding("settings", "ok", "All settings are known and right.")


def home_writable(home: Path) -> Finding:
    """Whether the data directory can be written to."""
    if not home.exists():
        return Finding("home", "warn", f"{home} does not exist yet.", "The first `laneway up` makes it.")
    try:
        with tempfile.TemporaryFile(dir=home):
            pass
    except OSError as error:
        return Finding(
            "home", "fail", f"{home} cannot be written to: {error.strerror}.", f"Make it yours: chown {home}"
        )
    return Finding("home", "ok", f"{home} can be written to.")


def disk_free(home: Path, least_megabytes: int) -> Finding:
    """Whether there is room for the database to grow."""
    existing = next(folder for folder in (home, *home.parents) if folder.exists())
    free = shutil.disk_usage(existing).free // 1_000_000
    if free < least_megabytes:
        return Finding(
            "disk", "fail", f"Only {free:,} MB are free at {existing}; {least_megabytes:,} are needed.",
            "Free some space, or move the data directory (LANEWAY_HOME).",
        )  # fmt: skip
    return Finding("disk", "ok", f"{free:,} MB are free at {existing}.")


def key_file(path: Path) -> Finding:
    """Whether the key file is there and nobody else can read it."""
    if not path.exists():
        return Finding(
            "key file", "warn", f"{path} does not exist.",
            "The first `laneway up` makes it; `laneway up --new-key` makes a new key; or set LANEWAY_KEY.",
        )  # fmt: skip
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o077:
        return Finding("key file", "fail", f"Others can read {path} (mode {mode:04o}).", f"chmod 600 {path}")
    return Finding("key file", "ok", f"Only you can read {path}.")


def key_accepted(key: str | None, whose: Principal | None) -> Finding:
    """Whether the key on this machine opens this database."""
    if not key:
        return Finding("key", "warn", "There is no key here.", "Set LANEWAY_KEY, or make one: `laneway up --new-key`.")
    if whose is None:
        return Finding("key", "fail", "The key here opens nothing.", "Make a new one: `laneway up --new-key`.")
    return Finding("key", "ok", f"The key is the {whose.role}'s.")


def port_usable(host: str, port: int, answers: str | None) -> Finding:
    """Whether the port is free or Laneway's own; `answers` is who answers there: None, laneway, or somebody else."""
    place = f"{host}:{port}"
    if answers is None:
        return Finding("port", "warn", f"Nothing listens on {place}: Laneway is not running.", START)
    if answers != "laneway":
        return Finding(
            "port", "fail", f"Another program has the port {place}.", "Stop it, or choose another (LANEWAY_PORT)."
        )
    return Finding("port", "ok", f"Laneway answers on {place}.")


def database_reachable(address: str | None, error: LanewayError | None) -> Finding:
    """Whether the database answers; without an address it is an embedded one that does not run."""
    if address is None:
        return Finding("database", "warn", "The embedded PostgreSQL is not running.", START)
    if error is not None:
        return Finding("database", "fail", error.message, error.hint)
    return Finding("database", "ok", "The database answers.")


def tables_current(found: str | None, needed: str) -> Finding:
    """Whether the tables are those of this version."""
    if found == needed:
        return Finding("tables", "ok", f"The tables are at version {found}.")
    if found is not None and found > needed:
        return Finding(
            "tables", "fail", f"The tables are at version {found}, made by a newer Laneway.", "Install that version."
        )
    has = "are not there" if found is None else f"are at version {found}; {needed} is needed"
    return Finding("tables", "fail", f"The tables {has}.", "`laneway up` brings them up to date.")


def worker_beats(alive: Sequence[Worker], now: datetime, longest_silence: float) -> Finding:
    """Whether somebody runs jobs."""
    fresh = [one for one in alive if (now - one.beat_at).total_seconds() <= longest_silence]
    if fresh:
        slots = sum(one.slots for one in fresh)
        return Finding("worker", "ok", f"{len(fresh)} alive, {slots} jobs at once.")
    if alive:
        silence = (now - max(one.beat_at for one in alive)).total_seconds()
        return Finding(
            "worker", "fail", f"The last sign of life is {silence:.0f} s old.", "Restart it: `laneway up`."
        )  # fmt: skip
    return Finding("worker", "fail", "No worker is alive.", START)


def clocks_agree(database: datetime, asked: datetime, answered: datetime) -> Finding:
    """Whether this machine and the database tell the same time."""
    # Somewhere between the two it looked at its clock: a slow answer is no wrong clock.
    apart = (min(max(database, asked), answered) - database).total_seconds()
    if abs(apart) > MOST_CLOCK_SECONDS:
        says = f"This clock is {abs(apart):.1f} s {'ahead of' if apart > 0 else 'behind'} the database's."
        return Finding("clock", "warn", says, "Let both follow a time server (NTP).")
    return Finding("clock", "ok", f"It agrees with the database's within {max(abs(apart), 0.001):.3f} s.")


def budget_left(spent: Decimal, cap: float | None) -> Finding:
    """Whether models may still be called today."""
    if cap is None:
        return Finding("budget", "ok", f"${spent:.4f} spent today (UTC); there is no cap.")
    says = f"${spent:.4f} of ${cap:.2f} spent today (UTC)."
    if cap > 0 and float(spent) >= cap:
        return Finding("budget", "fail", says, "Raise budget.day_usd (LANEWAY_BUDGET_DAY_USD), or wait for tomorrow.")
    if cap > 0 and cap - float(spent) < cap * LITTLE_BUDGET:
        return Finding("budget", "warn", says, "Raise budget.day_usd (LANEWAY_BUDGET_DAY_USD) if more is needed.")
    return Finding("budget", "ok", says)


def model_key(description: str, complaint: str | None) -> Finding:
    """Whether the models can be called with the keys that are set."""
    if complaint is not None and not about_quota(complaint):
        return Finding(
            "model", "fail", complaint, "Correct the key, the address or the model in the environment or .env."
        )
    if description.startswith("offline"):
        return Finding("model", "ok", f"{description}.", "For more, set ANTHROPIC_API_KEY or OPENAI_API_KEY.")
    return Finding("model", "ok", f"{description}.")


def quota(complaint: str | None) -> Finding:
    """Whether the provider lets us call as much as we want to."""
    if complaint is not None and about_quota(complaint):
        return Finding("quota", "fail", complaint, "Wait, or raise the limit at the provider.")
    return Finding("quota", "ok", "No provider has turned us away.")


def about_quota(complaint: str) -> bool:
    """Whether the provider complained about how much we ask, not about who we are."""
    return "HTTP 429" in complaint or "no credit left" in complaint


def classification(encoders: Mapping[str, str | None], install: Sequence[str], weights: Mapping[str, str]) -> Finding:
    """Whether messages are judged as well as they can be; whatever is missing, they are judged.

    `encoders` in their order with what is wrong with each, `install` what mends that, `weights` of each built-in
    taxonomy: shipped, trained (here, with the owner's examples) or untrained.
    """
    wrong = {name: complaint for name, complaint in encoders.items() if complaint is not None}
    usable = ", ".join(name for name in encoders if name not in wrong) or "none"
    says = [f"Encoders: {usable}.", *(f"{name} cannot be used: {complaint}" for name, complaint in wrong.items())]
    if wrong:
        alone = ", alone" if next(iter(encoders)) in wrong else ""
        says.append(f"Tier 0 (exact matches, rules, words, grammar) works anyway{alone}.")
    untrained = "untrained" in weights.values()
    says += _weights(weights)
    fixes = [f"Install again: {' '.join(install)}."] if install else []
    fixes += ["`laneway up` trains in the background; until then rules judge."] if untrained else []
    return Finding("classification", "warn" if wrong or untrained else "ok", " ".join(says), " ".join(fixes))


def _weights(weights: Mapping[str, str]) -> list[str]:
    said = {"shipped": "are the shipped ones", "trained": "were trained here", "untrained": "have to be trained"}
    found = {state: [name for name, one in weights.items() if one == state] for state in said}
    if len(found["shipped"]) == len(weights):
        return ["The built-in weights are the shipped ones."]
    return [f"The weights of {', '.join(names)} {said[state]}." for state, names in found.items() if names]


def sandbox(name: str, off: str | None, weaker: bool, passed_over: Mapping[str, str]) -> Finding:
    """Which boundary holds the commands of `bash`, and why no stronger one."""
    reasons = " ".join(f"{other}: {complaint}" for other, complaint in passed_over.items())
    install = "Install bubblewrap (`apt install bubblewrap`); docs/sandbox.md says what else can be done."
    if off is not None:
        return Finding("sandbox", "warn", f"`bash` is off. {off}", install)
    if weaker:
        says = f"Commands run behind {name} only, which is weaker: every one asks first. {reasons}"
        return Finding("sandbox", "warn", says.strip(), install)
    return Finding("sandbox", "ok", f"Commands run behind {name}. {reasons}".strip())


def classification_by_rules() -> Finding:
    """The owner wants no local classifier."""
    says = "The local classifier is switched off (local_classifier): rules judge, and the small model if there is one."
    return Finding("classification", "ok", says)


def taxonomies_wrong(error: SettingsError) -> Finding:
    """A file of the owner's that Laneway cannot start with."""
    return Finding("classification", "fail", error.message, error.hint)
