"""Where settings come from: files and the environment, read strictly, with errors that name the place."""

from __future__ import annotations

import difflib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError
from pydantic.fields import FieldInfo

from laneway.errors import SettingsError
from laneway.settings.fields import Settings

SECRETS = "secrets.json"


def values_in_force(environ: Mapping[str, str] | None = None, here: Path | None = None) -> dict[str, Any]:
    """What all sources together set, the stronger ones over the weaker."""
    values: dict[str, Any] = {}
    for _, found in layers(os.environ if environ is None else environ, here):
        values |= found
    return values


def layers(environ: Mapping[str, str], here: Path | None = None) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each source of settings and what it sets, weakest first."""
    beside = (here or Path.cwd()) / ".env"
    local = _dotenv(beside)
    named = environ.get("LANEWAY_HOME") or local.get("LANEWAY_HOME")
    home = Path(named or "~/.laneway").expanduser().absolute()
    yield "LANEWAY_HOME" if named else "default", {"home": home}
    yield str(home / "config.yaml"), _from_file(home / "config.yaml")
    yield str(home / ".env"), _from_environment(_dotenv(home / ".env"), str(home / ".env"))
    yield str(beside), _from_environment(local, str(beside))
    yield "the environment", _from_environment(environ, "the environment")


def variables(home: Path, environ: Mapping[str, str] | None = None, here: Path | None = None) -> dict[str, str]:
    """What `${NAME}` in config.yaml and `$secrets.NAME` in a workflow stand for, by name.

    The environment comes first, then `./.env`, then what `laneway secrets` keeps, then `LANEWAY_HOME/.env`.
    """
    own, beside = _dotenv(home / ".env"), _dotenv((here or Path.cwd()) / ".env")
    return {**own, **kept_secrets(home), **beside, **(os.environ if environ is None else environ)}


def kept_secrets(home: Path) -> dict[str, str]:
    """The secrets that `laneway secrets` keeps in the data directory."""
    try:
        found: dict[str, str] = json.loads(_text(home / SECRETS) or "{}")
    except ValueError:
        raise SettingsError(f"{home / SECRETS} is not valid JSON.", hint="Mend it or move it away.") from None
    return found


def keep_secrets(home: Path, secrets: Mapping[str, str]) -> None:
    """These are the secrets from now on; nobody but us can read the file, at no moment."""
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    unfinished = home / f"{SECRETS}.{os.getpid()}"
    unfinished.touch(mode=0o600)
    unfinished.write_text(json.dumps(dict(secrets)), encoding="utf-8")
    unfinished.replace(home / SECRETS)


def secret_names(home: Path) -> dict[str, str]:
    """The names of the data directory's secrets, each with the file it stands in."""
    ours = {env for *_, env in described()}
    own = [name for name in _dotenv(home / ".env") if name not in ours and not name.startswith("LANEWAY_")]
    return dict.fromkeys(own, ".env") | dict.fromkeys(kept_secrets(home), SECRETS)


def described() -> Iterator[tuple[str, FieldInfo, str | None, str]]:
    """Each setting as (field, info, key in config.yaml or None, name in the environment)."""
    for name, info in Settings.model_fields.items():
        extra = info.json_schema_extra
        if isinstance(extra, dict):
            key = extra["key"]
            yield name, info, None if key is None else str(key), str(extra["env"])


def _from_file(path: Path) -> dict[str, Any]:
    try:
        tree = yaml.safe_load(_text(path)) or {}
    except yaml.YAMLError as error:
        # The parser's own message quotes the line, and with it whatever was pasted there.
        mark = getattr(error, "problem_mark", None)
        place = "" if mark is None else f" in line {mark.line + 1}"
        raise SettingsError(f"{path} is not valid YAML{place}.", hint="Mend it or move it away.") from None
    if not isinstance(tree, dict):
        raise SettingsError(f"{path} must hold `key: value` lines.", hint="See docs/settings.md.")
    known = {key: name for name, _, key, _ in described() if key}
    found = dict(_leaves(tree, set(known)))
    _refuse_unknown(found, known, str(path))
    return {known[key]: value for key, value in found.items()}


def _leaves(tree: dict[Any, Any], known: set[str], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in tree.items():
        dotted = f"{prefix}{key}"
        if isinstance(value, dict) and dotted not in known:
            yield from _leaves(value, known, f"{dotted}.")
        elif value is not None or not any(other.startswith(f"{dotted}.") for other in known):
            # A section without lines sets nothing.
            yield dotted, value


def _from_environment(environ: Mapping[str, str], source: str) -> dict[str, Any]:
    known = {env: name for name, _, _, env in described()}
    # Any other name is somebody else's, or a secret that workflows and tools refer to.
    _refuse_unknown([env for env in environ if env.startswith("LANEWAY_")], {**known, **_ELSEWHERE}, source)
    return {known[env]: _parsed(known[env], text) for env, text in environ.items() if env in known and text.strip()}


_ELSEWHERE = dict.fromkeys(
    ("LANEWAY_HOME", "LANEWAY_URL", "LANEWAY_KEY", "LANEWAY_TEST_DATA", "LANEWAY_TEST_WITHOUT"), ""
)
"""Where the data directory is, and what belongs to the client and to the tests: known, but no settings."""


def _refuse_unknown(names: Iterable[str], known: Mapping[str, str], source: str) -> None:
    unknown = [name for name in names if name not in known]
    if unknown:
        listed = ", ".join(f"`{name}`" for name in unknown)
        hints = " ".join(dict.fromkeys(_nearest(name, known) for name in unknown))
        raise SettingsError(f"{source}: unknown setting{'s' if len(unknown) > 1 else ''} {listed}.", hint=hints)


def _parsed(name: str, text: str) -> Any:
    default = Settings.model_fields[name].default
    if isinstance(default, tuple):
        return tuple(part.strip() for part in text.split(",") if part.strip())
    if isinstance(default, dict):
        return _mapping(name, text)
    return None if text.strip().lower() in {"null", "none"} else text.strip()


def _mapping(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        env = next(env for known, _, _, env in described() if known == name)
        raise SettingsError(f"`{env}` is not valid JSON.", hint="docs/tools-from-outside.md shows how.") from None


_DOTENV_LINE = re.compile(
    r"""(?:export\s+)?(?P<name>\w+)\s*=\s*"""
    r"""(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<plain>(?!["']).*?))\s*(?:(?<=\s)\#.*)?"""
)


def _dotenv(path: Path) -> dict[str, str]:
    values = {}
    for number, line in enumerate(_text(path).splitlines(), start=1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        match = _DOTENV_LINE.fullmatch(line)
        if match is None:
            raise SettingsError(f"{path}, line {number}: expected NAME=value.", hint="See .env.example.")
        values[match["name"]] = match["double"] or match["single"] or match["plain"] or ""
    return values


def _text(path: Path) -> str:
    """What the file says; nothing if there is none."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError:
        raise SettingsError(f"{path} is not UTF-8 text.", hint="Mend it or move it away.") from None
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}.", hint="Mend it or move it away.") from None


def _nearest(key: str, known: Mapping[str, str]) -> str:
    for name, _, place, env in described():
        if place is None and key.lower() in {name, env.lower()}:
            return f"Secrets live in the environment or in `.env`: set {env} there."
    close = difflib.get_close_matches(key, known, n=1)
    return f"Did you mean `{close[0]}`?" if close else "docs/settings.md lists them all."


def explained(error: ValidationError) -> str:
    """Every wrong key and value in one sentence."""
    names = {name: f"`{key}` ({env})" if key else f"`{env}`" for name, _, key, env in described()}
    # The offending value is left out: it may be a secret pasted into the wrong place.
    faults = [f"{names.get(str(e['loc'][0]), e['loc'][0])}{_within(e['loc'][1:])}: {_told(e)}" for e in error.errors()]
    return "Wrong settings. " + "; ".join(faults) + "."


def _told(fault: Mapping[str, Any]) -> str:
    if fault["type"] == "extra_forbidden":
        return "there is no such key"
    return str(fault["msg"]).removeprefix("Value error, ")


def _within(path: tuple[int | str, ...]) -> str:
    """Where inside a setting, by the names the owner gave; what pydantic adds for itself is left out."""
    told = [str(part) for part in path if not str(part).startswith("[") and part != "constrained-str"]
    return f" at `{'.'.join(told)}`" if told else ""
