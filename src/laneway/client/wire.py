"""How the client speaks HTTP: requests, errors of the other side, and a stream that goes on where it was cut off."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote
from uuid import UUID

import httpx

from laneway import errors
from laneway.settings import Settings

Json = dict[str, Any]
Id = UUID | str

SILENCE_SECONDS = 45.0
"""A stream says something every 15 seconds; one that is silent for so long is dead."""

FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0
CURSOR_HEADER = "X-Event-Cursor"


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event of the stream; a delta has no id."""

    id: str | None
    event: str
    data: Json


class Wire:
    """A connection to one Laneway."""

    def __init__(self, url: str, key: str, timeout: float = 30) -> None:
        self.url, self.key = url.rstrip("/"), key
        self._owner: str | None = None
        self._http = httpx.Client(base_url=self.url, headers={"Authorization": f"Bearer {key}"}, timeout=timeout)

    @classmethod
    def from_environment(cls, home: Path | None = None) -> Self:
        """The client of LANEWAY_URL with LANEWAY_KEY, else of this machine's Laneway with the key in its home."""
        url, key = os.environ.get("LANEWAY_URL"), os.environ.get("LANEWAY_KEY")
        if url and key:
            return cls(url, key)
        place = {} if home is None else {"LANEWAY_HOME": str(home)}
        settings = Settings.load({**os.environ, **place})
        return cls(url or f"http://127.0.0.1:{settings.port}", key or _stored_key(settings.home / "key"))

    def of(self, owner: str | None) -> Self:
        """From now on the workflows of this principal are meant."""
        self._owner = owner
        return self

    def close(self) -> None:
        """All connections are closed."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def events(
        self, *, job: Id | None = None, thread: Id | None = None, since: str | None = None, resume: bool = True
    ) -> Iterator[ServerEvent]:
        """Events as they happen, each stored one once and in order; cut off, it goes on where it was."""
        wanted, cursor = given(job=job, thread=thread, since=since), None
        pause = FIRST_PAUSE
        while True:
            try:
                with self._open_stream(wanted, cursor) as response:
                    cursor = cursor or response.headers.get(CURSOR_HEADER)
                    for event in parsed(response.iter_lines()):
                        cursor, pause = event.id or cursor, FIRST_PAUSE
                        yield event
            except (httpx.TransportError, errors.Unavailable) as error:
                # Whoever could never connect wants to know; whoever was connected wants to go on.
                if cursor is None:
                    raise self._unreachable() if isinstance(error, httpx.TransportError) else error from None
            if not resume:
                return
            time.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)

    def _open_stream(self, wanted: Json, cursor: str | None) -> _Stream:
        headers = {"Last-Event-ID": cursor} if cursor else {}
        timeout = httpx.Timeout(self._http.timeout.connect, read=SILENCE_SECONDS)
        request = self._http.build_request("GET", "/events", params=plain(wanted), headers=headers, timeout=timeout)
        return _Stream(self._http.send(request, stream=True))

    def _get(self, path: str, **query: Any) -> Json:
        return self._request("GET", path, params=plain(given(**query)))

    def _post(self, path: str, **body: Any) -> Json:
        return self._request("POST", path, **body)

    def _delete(self, path: str) -> Json:
        return self._request("DELETE", path)

    def _request(self, method: str, path: str, **more: Any) -> Json:
        if self._owner is not None and path.startswith("/workflows"):
            more["params"] = {**more.get("params", {}), "owner": self._owner}
        try:
            response = self._http.request(method, path, **more)
        except (httpx.ConnectError, httpx.ConnectTimeout):
            raise self._unreachable() from None
        except httpx.TransportError as error:
            raise errors.Unavailable(
                f"{self.url} did not answer: {type(error).__name__}.", hint="Try again; `laneway logs` may say more."
            ) from None
        if response.is_error:
            raise problem_of(response)
        try:
            answer = response.json()
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise errors.Unavailable(
                f"Another program than Laneway answers at {self.url}.", hint="Correct LANEWAY_URL."
            )
        return answer

    def _unreachable(self) -> errors.Unavailable:
        return errors.Unavailable(f"No Laneway answers at {self.url}.", hint="Start it with `laneway up`.")


class _Stream:
    """An open response whose lines are read as they come; an error it reports is raised instead."""

    def __init__(self, response: httpx.Response) -> None:
        self._response = response

    def __enter__(self) -> httpx.Response:
        if self._response.is_error:
            self._response.read()
            self._response.close()
            raise problem_of(self._response)
        return self._response

    def __exit__(self, *_: object) -> None:
        self._response.close()


def parsed(lines: Iterable[str]) -> Iterator[ServerEvent]:
    """The events in the lines of a stream; one that was cut off in the middle is none."""
    fields: dict[str, str] = {}
    for line in lines:
        if line:
            name, _, value = line.partition(":")
            if name:
                fields[name] = value.removeprefix(" ")
        elif "data" in fields:
            yield ServerEvent(fields.get("id"), fields.get("event", "message"), json.loads(fields["data"]))
            fields = {}


def problem_of(response: httpx.Response) -> errors.LanewayError:
    """The error a response reports, as the class that was raised on the other side."""
    try:
        problem = response.json()
        code, detail, hint = problem["code"], str(problem["detail"]), str(problem.get("hint", ""))
    except (ValueError, KeyError, TypeError):
        code, detail, hint = "", f"{response.url.copy_with(query=None)} answered {response.status_code}.", ""
    kind = _kinds().get(code) or _kind_of(response.status_code)
    after = response.headers.get("Retry-After", "")
    return kind(detail, hint=hint, retry_after=float(after) if after.isdecimal() else None)


def _kinds() -> dict[str, type[errors.LanewayError]]:
    kinds: dict[str, type[errors.LanewayError]] = {}
    waiting: list[type[errors.LanewayError]] = [errors.LanewayError]
    while waiting:
        kind = waiting.pop()
        # A class made elsewhere may share the code of its parent, which is the one callers know.
        kinds.setdefault(kind.code, kind)
        waiting += [child for child in kind.__subclasses__() if child.__module__ == errors.__name__]
    return kinds


def _kind_of(status: int) -> type[errors.LanewayError]:
    if status >= 500:
        return errors.Unavailable if status in (502, 503, 504) else errors.LanewayError
    return {401: errors.Unauthorized, 403: errors.Forbidden, 404: errors.NotFound}.get(status, errors.BadInput)


def _stored_key(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError:
        raise errors.Unauthorized(
            f"There is no key: LANEWAY_KEY is not set and {path} cannot be read.",
            hint="`laneway up` makes one at its first start.",
        ) from None


def given(**values: Any) -> Json:
    return {name: value for name, value in values.items() if value is not None}


def plain(query: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(value) for name, value in query.items()}


def part(id: Id) -> str:
    return quote(str(id), safe="")
