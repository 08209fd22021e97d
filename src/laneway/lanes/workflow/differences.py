"""What changes between two documents, in words and by node: for previews, history and diagrams."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from laneway.lanes.workflow.document import Document, equal
from laneway.lanes.workflow.graph import EXCLUSIVE

Node = Mapping[str, Any]
EdgeKey = tuple[str, str, str, int]
"""From, to, on, and the how manieth of its kind."""


@dataclass(frozen=True)
class Difference:
    """One change: `kind` is added, removed or changed; `what` is node, edge, trigger or metadata."""

    kind: str
    what: str
    name: str
    words: str


def differences(before: Document, after: Document) -> list[Difference]:
    """Everything that differs, nodes first; none when the documents say the same."""
    return [*_nodes(before, after), *_edges(before, after), *_triggers(before, after), *_metadata(before, after)]


def told(before: Document, after: Document) -> str:
    """The differences in one sentence."""
    words = "; ".join(difference.words for difference in differences(before, after))
    return words[0].upper() + words[1:] + "." if words else "Changes nothing."


def marks(before: Document, after: Document) -> dict[str, str]:
    """For each node id that differs: added, removed or changed."""
    return {one.name: one.kind for one in differences(before, after) if one.what == "node"}


def changed_ways(before: Document, after: Document) -> frozenset[int]:
    """The places of the edges after the change that were there before under another condition."""
    old, places = _keyed(before), enumerate(_keyed(after).items())
    return frozenset(
        place for place, (key, edge) in places if key in old and old[key].get("condition") != edge.get("condition")
    )


def _nodes(before: Document, after: Document) -> Iterator[Difference]:
    old, new = _by_id(before), _by_id(after)
    renamed = _renamed(old, new)
    for name, node in new.items():
        if name in old:
            yield from (Difference("changed", "node", name, words) for words in _changed(name, old[name], node))
        elif name in renamed:
            yield Difference("added", "node", name, f"renames the step {renamed[name]} to {name}")
        else:
            yield Difference("added", "node", name, f"adds the step {name} ({node['type']}){_placed(name, after)}")
    for name, node in old.items():
        if name not in new and name not in renamed.values():
            yield Difference("removed", "node", name, f"removes the step {name} ({node['type']})")


def _placed(name: str, document: Document) -> str:
    """Where a new step stands: after what, and when."""
    ways = [edge for edge in document["edges"] if edge["to"] == name and edge["from"] != name]
    after = " and ".join(dict.fromkeys(edge["from"] + _when(edge) for edge in ways))
    return f" after {after}" if after else " at the beginning"


def _when(edge: Mapping[str, Any]) -> str:
    error = " if it fails" if edge.get("on") == "error" else ""
    return error + (f" when {_short(edge['condition'])}" if edge.get("condition") else "")


def _renamed(old: Mapping[str, Node], new: Mapping[str, Node]) -> dict[str, str]:
    """New ids of nodes that are otherwise as before, with their former ids."""
    gone = {name: node for name, node in old.items() if name not in new}
    found: dict[str, str] = {}
    for name, node in new.items():
        same = [other for other in gone if other not in found.values() and equal({**gone[other], "id": name}, node)]
        if name not in old and len(same) == 1:
            found[name] = same[0]
    return found


def _changed(name: str, old: Node, new: Node) -> Iterator[str]:
    for path, was, now in _leaves(old, new, ()):
        yield _change(_called(path, name), was, now, path)


def _leaves(old: Any, new: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any, Any]]:
    """The smallest named places that differ; lists count as one."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in [*new, *(key for key in old if key not in new)]:
            yield from _leaves(old.get(key, _NOTHING), new.get(key, _NOTHING), (*path, key))
    elif not (old is new or (old is not _NOTHING and new is not _NOTHING and equal(old, new))):
        yield path, old, new


_NOTHING = object()
_CALLED = {
    ("timeout_ms",): "the timeout",
    ("type",): "the type",
    ("retry", "max_attempts"): "the attempts",
    ("retry", "backoff_ms"): "the pause between attempts",
    ("retry", "backoff_multiplier"): "the growth of the pause between attempts",
}


def _called(path: tuple[str, ...], name: str) -> str:
    short = path[1:] if path[0] == "config" and len(path) > 1 else path
    return f"{_CALLED.get(path) or 'the ' + _short('.'.join(short))} of {name}"


def _change(what: str, was: Any, now: Any, path: tuple[str, ...]) -> str:
    if was is _NOTHING:
        return f"sets {what} to {_value(now, path)}"
    if now is _NOTHING:
        return f"removes {what}"
    return f"changes {what} from {_value(was, path)} to {_value(now, path)}"


def _edges(before: Document, after: Document) -> Iterator[Difference]:
    old, new = _keyed(before), _keyed(after)
    fresh, gone = _by_id(after).keys() - _by_id(before).keys(), _by_id(before).keys() - _by_id(after).keys()
    for key, edge in new.items():
        way = f"{edge['from']} → {edge['to']}"
        if key not in old and edge["to"] not in fresh:
            yield Difference("added", "edge", way, f"connects {edge['from']} to {edge['to']}{_when(edge)}")
        elif key in old and old[key].get("condition") != edge.get("condition"):
            yield Difference("changed", "edge", way, _condition(way, old[key], edge))
    for key, edge in old.items():
        if key not in new and not {edge["from"], edge["to"]} & gone:
            words = f"disconnects {edge['from']} from {edge['to']}"
            yield Difference("removed", "edge", f"{edge['from']} → {edge['to']}", words)
    yield from _orders(before, after)


def _condition(way: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    what = f"the condition of {way}"
    return _change(what, old.get("condition", _NOTHING), new.get("condition", _NOTHING), ("condition",))


def _orders(before: Document, after: Document) -> Iterator[Difference]:
    """Nodes that take the first branch that fits, and whose branches stand in another order now."""
    for name, node in _by_id(after).items():
        if node["type"] in EXCLUSIVE:
            old, new = ([key for key in _keyed(one) if key[0] == name] for one in (before, after))
            if [key for key in old if key in new] != [key for key in new if key in old]:
                ways = ", ".join(dict.fromkeys(key[1] for key in new))
                yield Difference("changed", "edge", name, f"changes the order of the branches of {name} to {ways}")


def _triggers(before: Document, after: Document) -> Iterator[Difference]:
    old, new = list(before.get("triggers", [])), list(after.get("triggers", []))
    for one in list(old):
        twin = next((other for other in new if equal(one, other)), None)
        if twin is not None:
            old.remove(one)
            new.remove(twin)
    for one in new:
        yield Difference("added", "trigger", one["type"], f"starts it {trigger_words(one)}")
    for one in old:
        yield Difference("removed", "trigger", one["type"], f"no longer starts it {trigger_words(one)}")


def trigger_words(trigger: Mapping[str, Any]) -> str:
    """When a trigger starts a workflow, in words."""
    off = " (switched off)" if trigger.get("enabled") is False else ""
    match trigger["type"]:
        case "cron":
            return f"at {_short(trigger.get('schedule'))} ({_short(trigger.get('timezone', 'UTC'))}){off}"
        case "event":
            return f"on the event {_short(trigger.get('event'))}{_when(trigger)}{off}"
        case "chat":
            return f"by chat{' at the words ' + _short(trigger['phrase']) if trigger.get('phrase') else ''}{off}"
    return f"by {'hand' if trigger['type'] == 'manual' else 'a ' + trigger['type']}{off}"


def _metadata(before: Document, after: Document) -> Iterator[Difference]:
    old, new = ({**one.get("metadata", {}), **({"overlap": one["overlap"]} if "overlap" in one else {})}
                for one in (before, after))  # fmt: skip
    for path, was, now in _leaves(old, new, ()):
        words = _change(f"the {_short('.'.join(path))} of the workflow", was, now, path)
        yield Difference("changed", "metadata", ".".join(path), words)


def _by_id(document: Document) -> dict[str, Node]:
    return {node["id"]: node for node in document["nodes"]}


def _keyed(document: Document) -> dict[EdgeKey, Mapping[str, Any]]:
    count, found = Counter[tuple[str, str, str]](), dict[EdgeKey, Mapping[str, Any]]()
    for edge in document["edges"]:
        key = (edge["from"], edge["to"], edge.get("on", ""))
        count[key] += 1
        found[(*key, count[key])] = edge
    return found


def _value(value: Any, path: Sequence[str]) -> str:
    if path[-1].endswith("_ms") and isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value / 1000:g} s" if value >= 1000 else f"{value} ms"
    return _short(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _short(value: Any) -> str:
    """A text on one line, without signs that cannot be seen, cut where it is long."""
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in str(value)).split())
    return line if len(line) <= 80 else line[:77] + "…"
