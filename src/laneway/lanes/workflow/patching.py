"""JSON Patch (RFC 6902): six operations, applied all or not at all to a copy; the document given in stays as it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from laneway.errors import BadInput
from laneway.lanes.workflow.document import MOST_BYTES, bounded, copied, equal, weight
from laneway.lanes.workflow.quoting import in_full, quoted, short

Operation = Mapping[str, Any]
"""One step of a patch: {"op", "path", "value"?, "from"?}; other members are ignored, as the standard asks."""

MOST_OPERATIONS = 500
"""Most operations of a patch as people and models write it; each path by id adds up to four tests to it."""
MOST_PLAIN = 5 * MOST_OPERATIONS
MOST_WRITTEN = 4 * MOST_BYTES
"""What all operations of a patch together may write: copies of copies grow without bound otherwise."""
KINDS = ("add", "remove", "replace", "move", "copy", "test")


class PatchRefused(BadInput):
    """A patch was not applied: `number` counts operations from 1 (0: the patch as a whole)."""

    code = "json-patch"

    def __init__(self, number: int, path: str, why: str, hint: str = "") -> None:
        where = f"Operation {number}" + (f" ({short(path)})" if path else "") if number else "The patch"
        super().__init__(f"{where}: {why}", hint=hint)
        self.number, self.path, self.why = number, path, why

    def __reduce__(self) -> tuple[object, ...]:
        return (PatchRefused, (self.number, self.path, self.why, self.hint))


class _Wrong(Exception):
    """Why one operation cannot be applied, and what to do; `PatchRefused` adds which one it was."""

    def __init__(self, why: str, hint: str = "") -> None:
        super().__init__(why)
        self.why, self.hint = why, hint


def applied(document: Any, operations: Sequence[Operation]) -> Any:
    """The document after all operations; the first that cannot be applied refuses them all."""
    patch = Stepwise(document)
    for _ in patch.worked(operations):
        pass
    return patch.whole()


def inverse(document: Any, operations: Sequence[Operation]) -> list[dict[str, Any]]:
    """Operations that turn the patched document back into exactly the given one."""
    patch, back = Stepwise(document), list[list[dict[str, Any]]]()
    for undone in patch.worked(operations):
        back.append(undone)
    patch.whole()
    return [operation for undone in reversed(back) for operation in reversed(undone)]


def few_enough(operations: Sequence[Operation], most: int = MOST_OPERATIONS) -> None:
    """A patch of more operations than that is refused."""
    if len(operations) > most:
        why = f"It has {len(operations)} operations; {most} are allowed."
        raise PatchRefused(0, "", why, "Split it into smaller patches.")


class Stepwise:
    """A patch on its way through a copy of the document."""

    def __init__(self, document: Any) -> None:
        bounded(document)
        self.root = copied(document)
        self.left = MOST_WRITTEN

    def worked(self, operations: Sequence[Operation]) -> Iterator[list[dict[str, Any]]]:
        """Each operation is done in turn; given out is what would undo it, last step last."""
        if not isinstance(operations, list | tuple):
            raise PatchRefused(0, "", "It is not a list of operations.", 'Send [{"op": "add", "path": …, "value": …}].')
        few_enough(operations, MOST_PLAIN)
        for number, operation in enumerate(operations, 1):
            yield self.step(operation, number)

    def step(self, operation: Operation, number: int) -> list[dict[str, Any]]:
        """One operation is done; given back is what would undo it, last step last."""
        try:
            return self._done(operation)
        except _Wrong as wrong:
            path = operation.get("path") if isinstance(operation, Mapping) else None
            raise PatchRefused(number, path if isinstance(path, str) else "", wrong.why, wrong.hint) from None

    def whole(self) -> Any:
        """The patched document, within its bounds."""
        bounded(self.root)
        return self.root

    def _done(self, operation: Operation) -> list[dict[str, Any]]:
        if not isinstance(operation, Mapping):
            raise _Wrong("It is not an object.", 'Write {"op", "path", …}.')
        kind, path = operation.get("op"), _member(operation, "path")
        match kind:
            case "add" | "replace" | "test":
                return self._with_value(kind, path, self._value(operation))
            case "remove":
                return [self._remove(path)]
            case "copy":
                return self._add(path, self._new(self._found(_member(operation, "from"))))
            case "move":
                return self._move(_member(operation, "from"), path)
        raise _Wrong(f"The operation {in_full(kind)} is unknown.", f"Known: {', '.join(KINDS)}.")

    def _with_value(self, kind: str, path: str, value: Any) -> list[dict[str, Any]]:
        if kind == "add":
            return self._add(path, value)
        found = self._at(path)
        if kind == "test":
            if not equal(found, value):
                raise _Wrong(
                    f"The test failed: there is {in_full(found)}, not {in_full(value)}.",
                    "The document has changed; read it again.",
                )
            return []
        self._put(path, value)
        return [{"op": "replace", "path": path, "value": found}]

    def _add(self, path: str, value: Any) -> list[dict[str, Any]]:
        if path == "":
            old, self.root = self.root, value
            return [{"op": "replace", "path": "", "value": old}]
        holder, key = self._holder(path)
        if isinstance(holder, list):
            index = len(holder) if key == "-" else _index(key, len(holder) + 1)
            holder.insert(index, value)
            return [{"op": "remove", "path": f"{_parent(path)}/{index}"}]
        old = {"op": "replace", "path": path, "value": holder[key]} if key in holder else {"op": "remove", "path": path}
        holder[key] = value
        return [old]

    def _remove(self, path: str) -> dict[str, Any]:
        if path == "":
            raise _Wrong("The whole document cannot be removed.", "Remove what is in it, or delete the workflow.")
        found = self._at(path)
        holder, key = self._holder(path)
        del holder[_index(key, len(holder)) if isinstance(holder, list) else key]
        return {"op": "add", "path": path, "value": found}

    def _move(self, source: str, path: str) -> list[dict[str, Any]]:
        if source != path and (path + "/").startswith(source + "/"):
            raise _Wrong(f"{short(source) or 'The whole document'} cannot be moved into itself.", "Use copy.")
        found = self._found(source)
        if source == path:
            return []
        removed = self._remove(source)
        # What is kept for the way back must not change when the moved value is changed later.
        return [{**removed, "value": self._new(found)}, *self._add(path, found)]

    def _put(self, path: str, value: Any) -> None:
        if path == "":
            self.root = value
            return
        holder, key = self._holder(path)
        holder[_index(key, len(holder)) if isinstance(holder, list) else key] = value

    def _at(self, path: str) -> Any:
        found = self.root
        for part in parts(path):
            found = _child(found, part)
        return found

    def _found(self, source: str) -> Any:
        """What `from` leads to; what is wrong with it is said of it, and not of the path."""
        try:
            return self._at(source)
        except _Wrong as wrong:
            raise _Wrong(nowhere(source, wrong.why), wrong.hint) from None

    def _holder(self, path: str) -> tuple[Any, str]:
        *above, key = parts(path)
        found = self.root
        for part in above:
            found = _child(found, part)
        if not isinstance(found, dict | list):
            raise _Wrong(f"{short(_parent(path))} is {_kind(found)}: nothing can be put into it.", "Mend the path.")
        return found, key

    def _value(self, operation: Operation) -> Any:
        if "value" not in operation:
            raise _Wrong("It has no value.", 'Add "value" (null is a value).')
        return self._new(operation["value"])

    def _new(self, value: Any) -> Any:
        self.left -= weight(value, most=MOST_WRITTEN)
        if self.left < 0:
            raise _Wrong("The patch writes too much.", f"Write at most {MOST_WRITTEN} bytes at a time.")
        return copied(value)


def nowhere(source: str, why: str) -> str:
    """What is said of an operation whose `from` is wrong."""
    return f"Its 'from' ({short(source)}) leads nowhere: {why}"


def parts(path: str, called: str = "path") -> list[str]:
    """The names a JSON Pointer goes by, with ~1 and ~0 read back."""
    if path == "":
        return []
    if not path.startswith("/"):
        raise _Wrong(f"The {called} does not begin with a slash.", 'Write "/nodes/0/config".')
    found = path[1:].split("/")
    if any("~" in part.replace("~0", "").replace("~1", "") for part in found):
        raise _Wrong(f"The {called} holds a ~ that is neither ~0 nor ~1.", "Write ~0 for ~ and ~1 for a slash.")
    return [part.replace("~1", "/").replace("~0", "~") for part in found]


def pointer(names: Sequence[str | int]) -> str:
    """The JSON Pointer that goes by these names."""
    return "".join("/" + str(name).replace("~", "~0").replace("/", "~1") for name in names)


def _child(holder: Any, key: str) -> Any:
    if isinstance(holder, list):
        return holder[_index(key, len(holder))]
    if not isinstance(holder, dict):
        raise _Wrong(f"There is nothing below {_kind(holder)} at {quoted(key)}.", "Mend the path.")
    if key not in holder:
        near = f"There are: {', '.join(map(short, list(holder)[:12]))}." if holder else "The object is empty."
        raise _Wrong(f"There is no {quoted(key)}.", near)
    return holder[key]


def _index(key: str, length: int) -> int:
    if not (key.isascii() and key.isdigit()) or (len(key) > 1 and key[0] == "0") or len(key) > 9:
        raise _Wrong(f"{quoted(key)} is no index of a list.", "Use 0, 1, 2 … (add also takes -).")
    index = int(key)
    if index >= length:
        raise _Wrong(f"The list has no index {index}.", f"Its last usable index is {length - 1}.")
    return index


def _member(operation: Operation, name: str) -> str:
    value = operation.get(name)
    if not isinstance(value, str):
        raise _Wrong(f"It has no text {name!r}.", f'Add "{name}", a JSON Pointer.')
    parts(value, name)
    return value


def _parent(path: str) -> str:
    return path.rsplit("/", 1)[0]


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")
