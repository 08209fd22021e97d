"""`http_request`: rows from elsewhere. The lane fetches them; the table engine is given what came."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from laneway.lanes.pipeline.fields import Fields
from laneway.lanes.pipeline.step import Step, Surroundings, Table

FORMATS = ("auto", "json", "csv", "ndjson")
_TEXT = {"type": "string"}
_OPTIONAL = ("params", "headers", "body", "rows_at", "pages", "table")


@dataclass(frozen=True, slots=True)
class HttpRequest(Step):
    """Fetches rows from a URL; always first. Several of them bring a table each, for a join or a union."""

    DO: ClassVar[str] = "http_request"
    SCHEMA: ClassVar[dict[str, Any]] = {
        "url": _TEXT,
        "method": {"enum": ["GET", "POST"]},
        "params": {"type": "object"},
        "headers": {"type": "object"},
        "body": {},
        "format": {"enum": list(FORMATS)},
        "rows_at": {"type": "string", "description": "Where in the JSON the rows are, such as data.items"},
        "pages": {"type": "object", "description": "How further pages are found"},
        "table": {"type": "string", "description": "What later steps call the table"},
    }

    url: str
    method: str = "GET"
    format: str = "auto"
    params: Mapping[str, Any] | None = None
    headers: Mapping[str, Any] | None = None
    body: Any = None
    rows_at: str | None = None
    pages: Mapping[str, Any] | None = None
    table: str | None = None

    @classmethod
    def read(cls, fields: Fields) -> Self:
        url = fields.need("url", '"url": "https://example.org/flights.json"')
        if not isinstance(url, str) or not url.startswith(("http://", "https://")) or len(url) > 8000:
            raise fields.wrong("`url` must be an address.", "Write one that starts with https:// or http://.")
        method = str(fields.take("method", "GET")).upper()
        if method not in ("GET", "POST"):
            raise fields.wrong(f"`method` cannot be {method[:20]}.", "Use GET or POST.")
        for field in ("params", "headers", "pages"):
            if not isinstance(fields.take(field, {}), Mapping):
                raise fields.wrong(f"`{field}` must be an object.", f'Write "{field}": {{"name": "value"}}.')
        if not isinstance(fields.take("rows_at", ""), str):
            raise fields.wrong("`rows_at` must be a text.", 'Write, for example, "rows_at": "data.items".')
        if fields.has("table"):
            fields.text("table", '"table": "flights"')
        given = {field: fields.take(field) for field in _OPTIONAL}
        return cls(url, method, fields.choice("format", FORMATS, "auto"), **given)

    def document(self) -> dict[str, Any]:
        more = {field: getattr(self, field) for field in _OPTIONAL if getattr(self, field) is not None}
        return {"url": self.url, "method": self.method, "format": self.format, **more}

    def name_of(self, number: int) -> str:
        """What its table is called, where it is the step of this number."""
        return self.table or (self.DO if number == 1 else f"{self.DO}_{number}")

    def phrase(self) -> str:
        return f"from {self.url.partition('?')[0]}"

    def run(self, table: Table, around: Surroundings) -> Table:
        return table
