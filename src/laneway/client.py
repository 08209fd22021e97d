"""The Python client of the HTTP API.

    with Client("http://127.0.0.1:8600", key) as laneway:
        receipt = laneway.send("How much disk space is left?")
        for event in laneway.events(job=receipt["job_id"], since="start"):
            ...

Answers are the JSON of the API as dictionaries; errors are the classes of `laneway.errors`.
"""

from __future__ import annotations

import json
import mimetypes
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
File = Path | tuple[str, bytes] | tuple[str, bytes, str]
Id = UUID | str

SILENCE_SECONDS = 45.0
"""A stream says something every 15 seconds; one that is silent for so long is dead."""

JUDGING_SECONDS = 120.0
"""A taxonomy may have to be trained first, and a model to be asked."""

FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0
CURSOR_HEADER = "X-Event-Cursor"


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event of the stream; a delta has no id."""

    id: str | None
    event: str
    data: Json


class Client:
    """Talks to one Laneway."""

    def __init__(self, url: str, key: str, timeout: float = 30) -> None:
        self.url, self.key = url.rstrip("/"), key
        self._http = httpx.Client(base_url=self.url, headers={"Authorization": f"Bearer {key}"}, timeout=timeout)

    @classmethod
    def from_environment(cls, home: Path | None = None) -> Client:
        """The client of LANEWAY_URL with LANEWAY_KEY, else of this machine's Laneway with the key in its home."""
        url, key = os.environ.get("LANEWAY_URL"), os.environ.get("LANEWAY_KEY")
        if url and key:
            return cls(url, key)
        place = {} if home is None else {"LANEWAY_HOME": str(home)}
        settings = Settings.load({**os.environ, **place})
        return cls(url or f"http://127.0.0.1:{settings.port}", key or _stored_key(settings.home / "key"))

    def close(self) -> None:
        """All connections are closed."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def send(
        self,
        text: str,
        *,
        thread: str | None = "main",
        id: str | None = None,
        mode: str = "AUTO",
        lane: str | None = None,
        payload: Json | None = None,
        files: Sequence[File] = (),
        sender: Json | None = None,
        channel: str = "http",
    ) -> Json:
        """The message is stored; its receipt names the message, its thread and its job."""
        # A customer has a thread of its own, unless another is named on purpose.
        named = None if sender is not None and thread == "main" else thread
        fields = _given(thread=named, id=id, lane=lane, payload=payload, sender=sender)
        fields |= {"text": text, "mode": mode, "channel": channel}
        if not files:
            return self._post("/messages", json=fields)
        form = {name: value if isinstance(value, str) else json.dumps(value) for name, value in fields.items()}
        return self._post("/messages", data=form, files=[("files", _file(file)) for file in files])

    def messages(self, thread: Id | None = None, limit: int = 50, before: int | str | None = None) -> Json:
        return self._get("/messages", thread=thread, limit=limit, before=before)

    def message(self, id: Id) -> Json:
        return self._get(f"/messages/{_part(id)}")

    def why(self, id: Id) -> Json:
        return self._get(f"/messages/{_part(id)}/why")

    def correct(self, id: Id, label: str, needs_confirmation: bool | None = None, taxonomy: str = "message") -> Json:
        """What the message really was is stored; whether it is learnt is decided later."""
        told = _given(label=label, needs_confirmation=needs_confirmation, taxonomy=taxonomy)
        return self._post(f"/messages/{_part(id)}/correct", json=told)

    def corrections(self, state: str | None = None, limit: int = 50, before: Id | None = None) -> Json:
        return self._get("/corrections", state=state, limit=limit, before=before)

    def withdraw(self, correction: Id) -> Json:
        """The correction no longer counts; what was learnt from it is forgotten later."""
        return self._request("DELETE", f"/corrections/{_part(correction)}")

    def threads(self, limit: int = 50, before: Id | None = None) -> Json:
        return self._get("/threads", limit=limit, before=before)

    def thread(self, id: Id) -> Json:
        return self._get(f"/threads/{_part(id)}")

    def stop_thread(self, id: Id) -> Json:
        return self._post(f"/threads/{_part(id)}/stop")

    def jobs(
        self,
        status: str | None = None,
        thread: Id | None = None,
        message: Id | None = None,
        limit: int = 50,
        before: int | str | None = None,
    ) -> Json:
        return self._get("/jobs", status=status, thread=thread, message=message, limit=limit, before=before)

    def job(self, id: Id) -> Json:
        return self._get(f"/jobs/{_part(id)}")

    def cancel_job(self, id: Id) -> Json:
        return self._post(f"/jobs/{_part(id)}/cancel")

    def retry_job(self, id: Id) -> Json:
        return self._post(f"/jobs/{_part(id)}/retry")

    def undo_job(self, id: Id) -> Json:
        """The files the job changed are as they were; those that changed since are listed as refused."""
        return self._post(f"/jobs/{_part(id)}/undo")

    def approvals(self, state: str | None = None, limit: int = 50, before: Id | None = None) -> Json:
        return self._get("/approvals", state=state, limit=limit, before=before)

    def answer(self, id: Id, answer: str, choice: str | None = None, always: bool = False) -> Json:
        """The approval has its answer, `approve` or `reject`; where choices are offered, the one that was meant."""
        given = {"answer": answer} | ({"choice": choice} if choice else {}) | ({"always": True} if always else {})
        return self._post(f"/approvals/{_part(id)}", json=given)

    def ask_again(self, id: Id) -> Json:
        """A new job asks for exactly what this approval asked for."""
        return self._post(f"/approvals/{_part(id)}/again")

    def permissions(self, limit: int = 50, before: Id | None = None) -> Json:
        return self._get("/permissions", limit=limit, before=before)

    def remove_permission(self, id: Id) -> Json:
        """What it allowed is asked for again."""
        return self._delete(f"/permissions/{_part(id)}")

    def principals(self, limit: int = 200, before: Id | None = None) -> Json:
        return self._get("/principals", limit=limit, before=before)

    def me(self) -> Json:
        """The principal of this client's key."""
        return self._get("/principals/me")

    def host_mode(self, principal: Id, on: bool) -> Json:
        """Commands of this principal run on the machine itself, or no longer do."""
        return self._request("PUT", f"/principals/{_part(principal)}/host-mode", json={"on": on})

    def tools(self) -> Json:
        """All tools at hand and where they come from, and how their suppliers are."""
        return self._get("/tools")

    def kept_tools(self, thread: Id) -> Json:
        """The tools that were found in a thread, and which of them have stayed."""
        return self._get(f"/threads/{_part(thread)}/tools")

    def drop_tool(self, thread: Id, tool: str) -> Json:
        """The tool no longer stays in the thread's toolbox, and its count begins anew."""
        return self._delete(f"/threads/{_part(thread)}/tools/{_part(tool)}")

    def classify(
        self, taxonomy: str, text: str | None = None, model: bool = True, turns: Sequence[Json] | None = None
    ) -> Json:
        """The judgement of a text, or of the last of some turns, by a taxonomy; without `model`, none is asked."""
        asked = {"taxonomy": taxonomy, "model": model} | _given(text=text, turns=turns)
        patience = httpx.Timeout(self._http.timeout.connect, read=JUDGING_SECONDS)
        return self._post("/classify", json=asked, timeout=patience)

    def ledger(self, by: str = "day", since: str | None = None) -> Json:
        return self._get("/ledger", by=by, since=since)

    def saved(self, since: str | None = None) -> Json:
        """What was spent, beside what it would have cost had the strong model done everything."""
        return self._get("/ledger/saved", since=since)

    def budgets(self) -> Json:
        """Every budget in force and how it stands."""
        return self._get("/budget")

    def set_budget(self, **budget: Any) -> Json:
        """The budget holds: `subject`, `name`, `period`, `world`, `usd`, `tokens` as the API has them."""
        return self._request("PUT", "/budget", json=_given(**budget))

    def remove_budget(self, **budget: Any) -> Json:
        """The budget that was set no longer holds; that of the settings does, if there is one."""
        return self._request("DELETE", "/budget", params=_plain(_given(**budget)))

    def outbox(self, state: str | None = None, limit: int = 50, before: int | str | None = None) -> Json:
        return self._get("/outbox", state=state, limit=limit, before=before)

    def schedules(self, limit: int = 50, before: Id | None = None) -> Json:
        return self._get("/schedules", limit=limit, before=before)

    def add_schedule(self, when: str, text: str, **more: Any) -> Json:
        """The schedule waits for its first time; `more`: name, zone, thread, budget_usd, quiet, urgent."""
        return self._post("/schedules", json={"when": when, "text": text, **_given(**more)})

    def schedule(self, which: Id) -> Json:
        """One schedule, by id or name, with its next five times."""
        return self._get(f"/schedules/{_part(which)}")

    def change_schedule(self, which: Id, what: str) -> Json:
        """The schedule is paused, resumed or run now: `what` is `pause`, `resume` or `run`."""
        return self._post(f"/schedules/{_part(which)}/{_part(what)}")

    def reminders(self, state: str | None = None, limit: int = 50, before: int | str | None = None) -> Json:
        return self._get("/reminders", state=state, limit=limit, before=before)

    def tasks(self, **which: Any) -> Json:
        """`which`: status, open, limit, before."""
        return self._get("/api/tasks", **which)

    def task(self, id: int) -> Json:
        return self._get(f"/api/tasks/{id}")

    def create_task(self, title: str, description: str = "", **more: Any) -> Json:
        """A task for a person is pending; `more`: priority, assigned_agent, due_at, task_type, parent_task_id."""
        return self._post("/api/tasks", json={"title": title, "description": description, **_given(**more)})

    def change_task(self, id: int, **changes: Any) -> Json:
        """The task has another status, priority, assigned_agent, title, description, due_at or output_data."""
        return self._request("PATCH", f"/api/tasks/{id}", json=changes)

    def memories(self, **which: Any) -> Json:
        """`which`: world, thread, limit, before."""
        return self._get("/memories", **which)

    def remove(self, kind: str, id: Id) -> Json:
        """The one of `schedules`, `reminders` or `memories` is gone or cancelled."""
        return self._request("DELETE", f"/{_part(kind)}/{_part(id)}")

    def sql(self, statement: str) -> Json:
        return self._post("/sql", json={"statement": statement})

    def status(self) -> Json:
        return self._get("/status")

    def logs(self, lines: int = 100, job: Id | None = None, after: int | None = None) -> Json:
        return self._get("/logs", lines=lines, job=job, after=after)

    def health(self) -> Json:
        return self._get("/health")

    def ready(self) -> Json:
        """What /ready says; Unavailable if something is missing."""
        return self._get("/ready")

    def events(
        self, *, job: Id | None = None, thread: Id | None = None, since: str | None = None, resume: bool = True
    ) -> Iterator[ServerEvent]:
        """Events as they happen, each stored one once and in order; cut off, it goes on where it was."""
        wanted, cursor = _given(job=job, thread=thread, since=since), None
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
        request = self._http.build_request("GET", "/events", params=_plain(wanted), headers=headers, timeout=timeout)
        return _Stream(self._http.send(request, stream=True))

    def _get(self, path: str, **query: Any) -> Json:
        return self._request("GET", path, params=_plain(_given(**query)))

    def _post(self, path: str, **body: Any) -> Json:
        return self._request("POST", path, **body)

    def _delete(self, path: str) -> Json:
        return self._request("DELETE", path)

    def _request(self, method: str, path: str, **more: Any) -> Json:
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


def _file(file: File) -> tuple[str, bytes, str]:
    if isinstance(file, Path):
        return file.name, file.read_bytes(), _mime(file.name)
    return (file[0], file[1], file[2]) if len(file) == 3 else (file[0], file[1], _mime(file[0]))


def _mime(name: str) -> str:
    return mimetypes.guess_type(name)[0] or "application/octet-stream"


def _given(**values: Any) -> Json:
    return {name: value for name, value in values.items() if value is not None}


def _plain(query: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(value) for name, value in query.items()}


def _part(id: Id) -> str:
    return quote(str(id), safe="")
