"""Taxonomies as data: labels with definitions, keywords and examples, and what to do when unsure.

A file in `taxonomies/` makes one, and lines of further examples may lie beside it; files of the same name in
LANEWAY_HOME/taxonomies add to it or, under a new name, make another. No code is needed.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from laneway.classify.further import further
from laneway.errors import SettingsError

BUILT_IN = Path(__file__).parent / "taxonomies"
SUFFIXES = (".toml", ".jsonl")
BRIEF = 120
MANY = 100
"""So many examples a label are plenty."""


@dataclass(frozen=True)
class Guard:
    """A label whose mistakes are dangerous, and how many of them are borne: missed ones, or false ones."""

    label: str
    most_missed: float | None = None
    most_false: float | None = None


@dataclass(frozen=True)
class Label:
    """One possible judgement."""

    name: str
    definition: str = ""
    keywords: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    brief: str = ""
    """The definition in one line, for prompts; without it, the definition's beginning."""
    choice: str = ""
    """What a person is offered who is asked what was meant; without it, the label's name."""

    @property
    def told(self) -> str:
        return self.brief or _beginning(self.definition)

    @property
    def offered(self) -> str:
        return self.choice or self.name.replace("_", " ").capitalize()


@dataclass(frozen=True)
class Flag:
    """A yes-or-no judgement beside the label, made for one label only."""

    name: str
    applies_to: str
    definition: str = ""
    yes: tuple[str, ...] = ()
    no: tuple[str, ...] = ()
    guard: Guard | None = None
    structure: str | None = None
    """The special analysis that this judgement needs (`vectors.STRUCTURES`), if it needs one."""
    brief: str = ""

    @property
    def told(self) -> str:
        return self.brief or _beginning(self.definition)


@dataclass(frozen=True)
class Taxonomy:
    """One decision: its labels, the safe default, and how sure is sure."""

    name: str
    labels: tuple[Label, ...]
    flags: tuple[Flag, ...] = ()
    fallback: str = ""
    precision: float = 0.98
    guard: Guard | None = None
    structure: str | None = None
    """The special analysis of its texts (`vectors.STRUCTURES`), if it needs one."""

    def label(self, name: str) -> Label:
        """The label of this name."""
        return next(label for label in self.labels if label.name == name)

    @property
    def actions(self) -> frozenset[str]:
        """The labels that lead to doing something: never taken on likeness.

        They are those that a flag belongs to; where there is none, all but the safe one.
        """
        flagged = [flag.applies_to for flag in self.flags]
        return frozenset(flagged or [name for name in self.names if name != self.fallback])

    @property
    def keywords(self) -> list[tuple[str, ...]]:
        return [label.keywords for label in self.labels]

    @property
    def names(self) -> list[str]:
        return [label.name for label in self.labels]

    @property
    def plenty(self) -> float:
        """How far its examples go: 1 where there are a hundred or more a label."""
        told = sum(len(label.examples) for label in self.labels) + sum(len(f.yes) + len(f.no) for f in self.flags)
        return min(1.0, told / (len(self.labels) * MANY))

    def examples(self) -> list[tuple[str, str]]:
        """Every example with its label; the examples of a flag are examples of its label, too."""
        pairs = [(text, label.name) for label in self.labels for text in label.examples]
        for flag in self.flags:
            pairs += [(text, flag.applies_to) for text in (*flag.yes, *flag.no)]
        return pairs

    def with_examples(self, pairs: Sequence[tuple[str, str]], flags: Mapping[str, bool]) -> Taxonomy:
        """The same decision with further examples; a text in `flags` is one of the flag made for its label."""
        told = {(text, label): self._flag_told(label, text, flags) for text, label in pairs}
        labels = tuple(
            replace(label, examples=label.examples + _those(told, label.name, None)) for label in self.labels
        )
        more = tuple(
            replace(
                flag,
                yes=flag.yes + _those(told, flag.applies_to, True),
                no=flag.no + _those(told, flag.applies_to, False),
            )
            for flag in self.flags
        )
        return replace(self, labels=labels, flags=more)

    def _flag_told(self, label: str, text: str, flags: Mapping[str, bool]) -> bool | None:
        """What is told of the text's flag; None if nothing is, or if its label has none."""
        return flags.get(text) if any(flag.applies_to == label for flag in self.flags) else None

    def flag_examples(self, flag: Flag) -> tuple[list[str], list[str]]:
        """The texts that raise a flag and those that do not; what is not of its label does not."""
        others = [text for text, label in self.examples() if label != flag.applies_to]
        return list(flag.yes), [*flag.no, *others]

    def digest(self) -> str:
        """A fingerprint of everything that decides: the same fingerprint means the same judgements."""
        return self._digest

    @cached_property
    def _digest(self) -> str:
        told: list[Any] = [self.name, self.fallback, self.precision, repr(self.guard), self.structure, self.examples()]
        told += [(flag.name, flag.yes, flag.no, repr(flag.guard), flag.structure) for flag in self.flags]
        told += [(label.name, label.keywords) for label in self.labels]
        return hashlib.sha256(json.dumps(told, ensure_ascii=False).encode()).hexdigest()


def _those(told: Mapping[tuple[str, str], bool | None], label: str, answer: bool | None) -> tuple[str, ...]:
    return tuple(text for (text, name), flag in told.items() if name == label and flag is answer)


def load(home: Path | None = None) -> dict[str, Taxonomy]:
    """All taxonomies by name: the built-in ones, with what the owner's files add."""
    found = dict(_built_in())
    files = (home / "taxonomies").glob("*.*") if home else ()
    for path in sorted({path.with_suffix(".toml") for path in files if path.suffix in SUFFIXES}):
        tree = _tree(BUILT_IN / path.name) if path.stem in found else {}
        found[path.stem] = _taxonomy(path.stem, _tree(path, tree))
    return found


def _tree(path: Path, first: dict[str, Any] | None = None) -> dict[str, Any]:
    """What is told so far, with what the file adds and the lines of further examples beside it."""
    tree = _joined(first or {}, _read(path)) if path.exists() else first or {}
    lines = path.with_suffix(".jsonl")
    return _joined(tree, further(lines, {"labels": {}, **tree})) if lines.exists() else tree


@cache
def _built_in() -> dict[str, Taxonomy]:
    """The taxonomies that come with the program; some forty thousand examples are read once."""
    return {path.stem: _taxonomy(path.stem, _tree(path)) for path in sorted(BUILT_IN.glob("*.toml"))}


def text_of(example: Any) -> str:
    """An example as text; a function's description and arguments become one."""
    if isinstance(example, str):
        return example
    description, arguments = str(example.get("description", "")), example.get("args") or {}
    told = ", ".join(f"{name}={str(value)[:60]}" for name, value in arguments.items())
    return f"{description} ({told})" if told else description


def _read(path: Path) -> dict[str, Any]:
    try:
        tree = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} is not valid TOML: {error}.", hint="See docs/adding-a-taxonomy.md.") from None
    unknown = set(tree) - {"name", "labels", "flags", "fallback", "precision", "guard", "definition", "structure"}
    if unknown or not isinstance(tree.get("labels", {}), dict):
        raise SettingsError(
            f"{path}: unknown key `{next(iter(sorted(unknown)), 'labels')}`.", hint="See docs/adding-a-taxonomy.md."
        )
    return tree


def _joined(first: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """The built-in tree with the owner's examples and settings added."""
    merged = {**first, **{key: value for key, value in more.items() if key not in ("labels", "flags")}}
    for part, lists in (("labels", ("examples", "keywords")), ("flags", ("yes", "no"))):
        merged[part] = {name: dict(entry) for name, entry in first.get(part, {}).items()}
        for name, entry in more.get(part, {}).items():
            known = merged[part].setdefault(name, {})
            for key, value in entry.items():
                known[key] = [*known.get(key, []), *value] if key in lists else value
    return merged


def _taxonomy(name: str, tree: dict[str, Any]) -> Taxonomy:
    labels = tuple(
        Label(
            label,
            entry.get("definition", ""),
            tuple(entry.get("keywords", ())),
            tuple(text_of(example) for example in entry.get("examples", ())),
            entry.get("brief", ""),
            entry.get("choice", ""),
        )
        for label, entry in tree.get("labels", {}).items()
    )
    if len(labels) < 2:
        raise SettingsError(f"Taxonomy {name} needs at least two labels.", hint="See docs/adding-a-taxonomy.md.")
    flags = tuple(
        Flag(
            flag,
            entry["applies_to"],
            entry.get("definition", ""),
            tuple(entry.get("yes", ())),
            tuple(entry.get("no", ())),
            _guard(flag, entry),
            entry.get("structure"),
            entry.get("brief", ""),
        )
        for flag, entry in tree.get("flags", {}).items()
    )
    fallback = tree.get("fallback", labels[0].name)
    if fallback not in [label.name for label in labels]:
        raise SettingsError(f"Taxonomy {name}: the fallback `{fallback}` is not one of its labels.", hint="Name one.")
    return Taxonomy(
        name,
        labels,
        flags,
        fallback,
        float(tree.get("precision", 0.98)),
        _guard(str(tree.get("guard", {}).get("label", "")), tree),
        tree.get("structure"),
    )


def _beginning(definition: str) -> str:
    return definition if len(definition) <= BRIEF else f"{definition[:BRIEF].rsplit(' ', 1)[0]}…"


def _guard(label: str, tree: dict[str, Any]) -> Guard | None:
    entry = tree.get("guard")
    return Guard(label, entry.get("most_missed"), entry.get("most_false")) if entry else None
