"""JSON as it is sent: small bodies are read where they arrive, large ones beside the event loop."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from pydantic import ValidationInfo

from laneway.domain.storable import NotStorable, check_storable
from laneway.errors import BadInput
from laneway.lanes.pipeline.unpacking import SMALL, Unpacked, unpacked
from laneway.web.problems import WrongFields

if TYPE_CHECKING:
    from laneway.web.limits import BodyLimits

CHECKED = "checked"
LONGEST_PLACE = 200


def decoded(body: bytes) -> Any:
    """The JSON of a body; no NaN, no infinity, nothing but UTF-8."""
    try:
        return json.loads(body.decode("utf-8"), parse_constant=_no_constant)
    except UnicodeDecodeError:
        raise BadInput("The body is not valid UTF-8.", hint="Encode it as UTF-8.") from None
    except (ValueError, RecursionError) as error:
        said = "it is nested too deeply" if isinstance(error, RecursionError) else error
        raise BadInput(f"The body is not valid JSON: {said}.", hint="Correct it.") from None


async def read_object(body: bytes, limits: BodyLimits, example: str) -> Unpacked:
    """The object that a body is; of a large one, large tables are taken out already."""
    if len(body) > SMALL:
        return await unpacked(body, limits.plain)
    found = decoded(body)
    if not isinstance(found, dict):
        raise BadInput("The body must be a JSON object.", hint=f"Send {example}.")
    return Unpacked(found)


async def read_field(name: str, body: bytes, limits: BodyLimits) -> Unpacked:
    """The same for one field that came by itself, as JSON."""
    if len(body) <= SMALL:
        return Unpacked({name: decoded(body)})
    found = await unpacked(b'{"' + name.encode() + b'":' + body + b"}", limits.plain)
    if set(found.fields) != {name}:
        raise BadInput(f"`{name}` is not valid JSON.", hint="Correct it.")
    return found


def is_json(content_type: str) -> bool:
    """Whether a body of this type is read as JSON."""
    kind = content_type.partition(";")[0].strip().lower()
    return kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json"))


def check_body(parts: Sequence[bytes]) -> None:
    """Returns only if the body is JSON, all of which can be stored."""
    check_fields(decoded(b"".join(parts)))


def check_fields(fields: Any) -> None:
    """Returns only if all of a request can be stored; else WrongFields names the field that cannot, row and cell."""
    try:
        check_storable(fields)
    except NotStorable as wrong:
        where = ".".join(map(str, wrong.path))
        place = where if len(where) <= LONGEST_PLACE else where[:LONGEST_PLACE] + "…"
        raise WrongFields([{"loc": (place or "body",), "type": "value_error", "msg": str(wrong)}]) from None


def known_storable(info: ValidationInfo) -> bool:
    """Whether the field that is validated was looked through already, beside the event loop."""
    return info.field_name in (info.context or {}).get(CHECKED, ())


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
