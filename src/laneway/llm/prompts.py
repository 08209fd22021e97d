"""The words models are given: text files beside this module, each replaceable by one in the data directory."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from laneway.errors import NotFound, SettingsError

NAMES = ("classification", "execution", "proactive", "review", "vision", "pipeline", "workflow", "business")


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt: its words, and whether they are ours or the owner's."""

    text: str
    source: str

    @property
    def version(self) -> str:
        """`builtin` or `override` and a fingerprint of the words: it changes exactly when they do."""
        return f"{self.source}:{hashlib.sha256(self.text.encode()).hexdigest()[:12]}"


class Prompts:
    """Every prompt, read once at the start; `HOME/prompts/NAME.txt` replaces the built-in NAME.

    What the owner wrote about the business, in `HOME/business.md` or the file named, stands behind `business`.
    """

    def __init__(self, home: Path, business: Path | None = None) -> None:
        self._prompts = {name: _load(name, home / "prompts" / f"{name}.txt") for name in NAMES}
        about = home / (business or Path("business.md")).expanduser()
        if business is not None or about.is_file():
            rules = self._prompts["business"].text
            self._prompts["business"] = Prompt(
                f"{rules}\n\nThe business, in its owner's words:\n\n{_read(about)}", "override"
            )

    def text(self, name: str) -> str:
        """The words of a prompt."""
        return self._get(name).text

    def version(self, name: str) -> str:
        """Which words they are, for the record of the call."""
        return self._get(name).version

    def _get(self, name: str) -> Prompt:
        if name not in self._prompts:
            raise NotFound(f"There is no prompt `{name}`.", hint=f"There are {', '.join(NAMES)}.")
        return self._prompts[name]


def _load(name: str, override: Path) -> Prompt:
    if not override.is_file():
        return Prompt((files("laneway.llm") / "prompts" / f"{name}.txt").read_text(encoding="utf-8").strip(), "builtin")
    return Prompt(_read(override), "override")


def _read(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} cannot be read: {error}.", hint="Mend it or move it away.") from None
    if not text:
        raise SettingsError(f"{path} is empty.", hint="Write the prompt into it, or remove it.")
    return text
