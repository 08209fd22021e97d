"""Every call of the API, by its own name."""

from __future__ import annotations

import json
import mimetypes
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx

from laneway.client.wire import Id, Json, given, part, plain
from laneway.client.workflow_calls import WorkflowCalls

File = Path | tuple[str, bytes] | tuple[str, bytes, str]

JUDGING_SECONDS = 120.0
"""A taxonomy may have to be trained first, and a model to be asked."""

WAITING_SECONDS = 60.0
"""So long a request of the runner is waited for if it does not say."""


class Client(WorkflowCalls):
    """Talks to one Laneway."""

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
        tables: Json | None = None,
        previous_results: list[Any] | None = None,
        runner: Json | None = None,
    ) -> Json:
        """The message is stored; its receipt names the message, its thread and its job."""
        # A customer has a thread of its own, unless another is named on purpose.
        named = None if sender is not None and thread == "main" else thread
        fields = given(thread=named, id=id, lane=lane, payload=payload, sender=sender)
        fields |= given(tables=tables, previous_results=previous_results, runner=runner)
        fields |= {"text": text, "mode": mode, "channel": channel}
        if not files:
            return self._post("/messages", json=fields)
        form = {name: value if isinstance(value, str) else json.dumps(value) for name, value in fields.items()}
        return self._post("/messages", data=form, files=[("files", _file(file)) for file in files])

    def messages(self, thread: Id | None = None, limit: int = 50, before: int | str | None = None) -> Json:
        return self._get("/messages", thread=thread, limit=limit, before=before)

    def message(self, id: Id) -> Json:
        return self._get(f"/messages/{part(id)}")

    def why(self, id: Id) -> Json:
        return self._get(f"/messages/{part(id)}/why")

    def correct(self, id: Id, label: str, needs_confirmation: bool | None = None, taxonomy: str = "message") -> Json:
        """What the message really was is stored; whether it is learnt is decided later."""
        told = given(label=label, needs_confirmation=needs_confirmation, taxonomy=taxonomy)
        return self._post(f"/messages/{part(id)}/correct", json=told)

    def corrections(self, state: str | None = None, limit: int = 50, before: Id | None = None) -> Json:
        return self._get("/corrections", state=state, limit=limit, before=before)

    def withdraw(self, correction: Id) -> Json:
        """The correction no longer counts; what was learnt from it is forgotten later."""
        return self._request("DELETE", f"/corrections/{part(correction)}")

    def threads(self, limit: int = 50, before: Id | None = None) -> Json:
        return self._get("/threads", limit=limit, before=before)

    def thread(self, id: Id) -> Json:
        return self._get(f"/threads/{part(id)}")

    def stop_thread(self, id: Id) -> Json:
        return self._post(f"/threads/{part(id)}/stop")

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
        return self._get(f"/jobs/{part(id)}")

    def cancel_job(self, id: Id) -> Json:
        return self._post(f"/jobs/{part(id)}/cancel")

    def retry_job(self, id: Id) -> Json:
        return self._post(f"/jobs/{part(id)}/retry")

    def undo_job(self, id: Id) -> Json:
        """The files the job changed are as they were; those that changed since are listed as refused."""
        return self._post(f"/jobs/{part(id)}/undo")

    def approvals(self, state: str | None = None, limit: int = 50, before: Id | None = None) -> Json:
        return self._get("/approvals", state=state, limit=limit, before=before)

    def answer(self, id: Id, answer: str, choice: str | None = None, always: bool = False) -> Json:
        """The approval has its answer, `approve` or `reject`; where choices are offered, the one that was meant."""
        given = {"answer": answer} | ({"choice": choice} if choice else {}) | ({"always": True} if always else {})
        return self._post(f"/approvals/{part(id)}", json=given)

    def ask_again(self, id: Id) -> Json:
        """A new job asks for exactly what this approval asked for."""
        return self._post(f"/approvals/{part(id)}/again")

    def audit(
        self, what: str | None = None, limit: int = 50, before: int | None = None, after: int | None = None
    ) -> Json:
        """Entries of the audit: newest first, or with `after` oldest first."""
        return self._get("/audit", what=what, limit=limit, before=before, after=after)

    def replay(self, session: Id, after: int = 0) -> Json:
        """All that happened in a kept session, or in a job, as a rehearsal needs it."""
        return self._get(f"/replays/{part(session)}", after=after)

    def review(self, session: Id | None = None, digest: Json | None = None) -> Json:
        """A short report on a kept session or a job, or on one whose digest is given."""
        told = given(session=None if session is None else str(session), digest=digest)
        return self._post("/reviews", json=told)

    def permissions(self, limit: int = 50, before: Id | None = None) -> Json:
        return self._get("/permissions", limit=limit, before=before)

    def remove_permission(self, id: Id) -> Json:
        """What it allowed is asked for again."""
        return self._delete(f"/permissions/{part(id)}")

    def principals(self, limit: int = 200, before: Id | None = None) -> Json:
        return self._get("/principals", limit=limit, before=before)

    def me(self) -> Json:
        """The principal of this client's key."""
        return self._get("/principals/me")

    def host_mode(self, principal: Id, on: bool) -> Json:
        """Commands of this principal run on the machine itself, or no longer do."""
        return self._request("PUT", f"/principals/{part(principal)}/host-mode", json={"on": on})

    def people(self, **which: Any) -> Json:
        """`which`: role, called, limit, before."""
        return self._get("/people", **which)

    def strangers(self, limit: int = 50, before: int | str | None = None) -> Json:
        """Who knocked and was not let in."""
        return self._get("/people/strangers", limit=limit, before=before)

    def pair(self, role: str = "owner", name: str | None = None) -> Json:
        """A code is open for an hour; whoever sends it to a channel is known with this role."""
        return self._post("/people/pairings", json=given(role=role, name=name))

    def allow(self, address: str, role: str, name: str | None = None) -> Json:
        """The address, written channel:address, is let in with this role."""
        return self._post("/people/allowed", json=given(address=address, role=role, name=name))

    def block(self, person: Id) -> Json:
        """Nothing of this person is taken any more."""
        return self._post(f"/people/{part(person)}/block")

    def unblock(self, person: Id) -> Json:
        return self._post(f"/people/{part(person)}/unblock")

    def set_role(self, person: Id, role: str) -> Json:
        """The person has this role; a customer who is promoted is somebody new."""
        return self._request("PUT", f"/people/{part(person)}/role", json={"role": role})

    def forget(self, address: str) -> Json:
        """The address is nobody's any more."""
        return self._request("DELETE", "/people/addresses", params={"address": address})

    def notices_place(self, **chosen: str | None) -> Json:
        """Where the owner is told and asked, or from now on in `place`; with None, where the owner wrote last."""
        return self._request("PUT" if chosen else "GET", "/people/notices", json=chosen or None)

    def tools(self) -> Json:
        """All tools at hand and where they come from, and how their suppliers are."""
        return self._get("/tools")

    def kept_tools(self, thread: Id) -> Json:
        """The tools that were found in a thread, and which of them have stayed."""
        return self._get(f"/threads/{part(thread)}/tools")

    def drop_tool(self, thread: Id, tool: str) -> Json:
        """The tool no longer stays in the thread's toolbox, and its count begins anew."""
        return self._delete(f"/threads/{part(thread)}/tools/{part(tool)}")

    def classify(
        self, taxonomy: str, text: str | None = None, model: bool = True, turns: Sequence[Json] | None = None
    ) -> Json:
        """The judgement of a text, or of the last of some turns, by a taxonomy; without `model`, none is asked."""
        asked = {"taxonomy": taxonomy, "model": model} | given(text=text, turns=turns)
        patience = httpx.Timeout(self._http.timeout.connect, read=JUDGING_SECONDS)
        return self._post("/classify", json=asked, timeout=patience)

    def pipeline(
        self, prompt: str | None = None, tables: Json | None = None, plan: Json | list[Any] | None = None, **more: Any
    ) -> Json:
        """The rows of a plan, or of one made from words, over these tables; `more` as POST /pipelines takes it."""
        asked = given(prompt=prompt, tables=tables, plan=plan) | more
        return self._post("/pipelines", json=asked, timeout=_waiting(self._http, more))

    def plan_schema(self) -> Json:
        """What a plan may say, as JSON Schema."""
        return self._get("/pipelines/schema")

    def test_chat(self, prompt: str, tables: Json | None = None, **more: Any) -> Json:
        """The runner's result for one request; `more` as POST /test/chat takes it."""
        asked = {"prompt": prompt} | given(tables=tables) | more
        return self._post("/test/chat", json=asked, timeout=_waiting(self._http, more))

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
        return self._request("PUT", "/budget", json=given(**budget))

    def remove_budget(self, **budget: Any) -> Json:
        """The budget that was set no longer holds; that of the settings does, if there is one."""
        return self._request("DELETE", "/budget", params=plain(given(**budget)))

    def outbox(self, state: str | None = None, limit: int = 50, before: int | str | None = None) -> Json:
        return self._get("/outbox", state=state, limit=limit, before=before)

    def retry_reply(self, id: int) -> Json:
        return self._post(f"/outbox/{id}/retry")

    def waha_status(self) -> Json:
        """How the bridge to WhatsApp is, asked now."""
        return self._get("/waha")

    def schedules(self, limit: int = 50, before: Id | None = None) -> Json:
        return self._get("/schedules", limit=limit, before=before)

    def add_schedule(self, when: str, text: str, **more: Any) -> Json:
        """The schedule waits for its first time; `more`: name, zone, thread, budget_usd, quiet, urgent."""
        return self._post("/schedules", json={"when": when, "text": text, **given(**more)})

    def schedule(self, which: Id) -> Json:
        """One schedule, by id or name, with its next five times."""
        return self._get(f"/schedules/{part(which)}")

    def change_schedule(self, which: Id, what: str) -> Json:
        """The schedule is paused, resumed or run now: `what` is `pause`, `resume` or `run`."""
        return self._post(f"/schedules/{part(which)}/{part(what)}")

    def run_workflow(self, tag: str, inputs: Json | None = None, **more: Any) -> Json:
        """A run of the workflow is queued; `more`: version, thread, id."""
        return self._post(f"/workflows/{part(tag)}/execute", json={"inputs": inputs or {}, **given(**more)})

    def test_workflow(self, tag: str, pinned: Json, inputs: Json | None = None, version: int | None = None) -> Json:
        """A test is queued: pinned nodes give what is given for them, and nothing is done outside."""
        told = {"pinned": pinned, "inputs": inputs or {}, **given(version=version)}
        return self._post(f"/workflows/{part(tag)}/test", json=told)

    def workflow_runs(self, tag: str, **which: Any) -> Json:
        """`which`: status, limit, before."""
        return self._get(f"/workflows/{part(tag)}/runs", **which)

    def workflow_triggers(self, tag: str) -> Json:
        """What starts the workflow by itself, and which of its schedules are paused."""
        return self._get(f"/workflows/{part(tag)}/triggers")

    def workflow_hook(self, tag: str) -> Json:
        """The workflow's webhook has a new secret, which is shown this once."""
        return self._post(f"/workflows/{part(tag)}/hook")

    def tell_workflows(self, event: str, data: Json | None = None, id: str | None = None) -> Json:
        """Workflows that listen for the event have heard of it."""
        return self._post("/workflow-events", json={"event": event, "data": data or {}, **given(id=id)})

    def workflow_run(self, id: Id) -> Json:
        return self._get(f"/runs/{part(id)}")

    def workflow_run_nodes(self, id: Id, limit: int = 50, before: int | str | None = None) -> Json:
        """What happened at its nodes, in order."""
        return self._get(f"/runs/{part(id)}/nodes", limit=limit, before=before)

    def change_workflow_run(self, id: Id, what: str) -> Json:
        """A failed run goes on at its failed node, or a run is stopped: `what` is `retry` or `cancel`."""
        return self._post(f"/runs/{part(id)}/{part(what)}")

    def reminders(self, state: str | None = None, limit: int = 50, before: int | str | None = None) -> Json:
        return self._get("/reminders", state=state, limit=limit, before=before)

    def tasks(self, **which: Any) -> Json:
        """`which`: status, open, limit, before."""
        return self._get("/api/tasks", **which)

    def task(self, id: int) -> Json:
        return self._get(f"/api/tasks/{id}")

    def create_task(self, title: str, description: str = "", **more: Any) -> Json:
        """A task for a person is pending; `more`: priority, assigned_agent, due_at, task_type, parent_task_id."""
        return self._post("/api/tasks", json={"title": title, "description": description, **given(**more)})

    def change_task(self, id: int, **changes: Any) -> Json:
        """The task has another status, priority, assigned_agent, title, description, due_at or output_data."""
        return self._request("PATCH", f"/api/tasks/{id}", json=changes)

    def memories(self, **which: Any) -> Json:
        """`which`: world, thread, limit, before."""
        return self._get("/memories", **which)

    def remove(self, kind: str, id: Id) -> Json:
        """The one of `schedules`, `reminders` or `memories` is gone or cancelled."""
        return self._request("DELETE", f"/{part(kind)}/{part(id)}")

    def kept_sessions(self, provider: str | None = None, limit: int = 50, before: Id | None = None) -> Json:
        """Other agents' sessions that were watched and kept."""
        return self._get("/sessions", provider=provider, limit=limit, before=before)

    def kept_session(self, id: Id) -> Json:
        """One kept session with what reactors said about it."""
        return self._get(f"/sessions/{part(id)}")

    def session_events(self, id: Id, limit: int = 50, after: int = 0, life: int | None = None) -> Json:
        """Its events, oldest first."""
        return self._get(f"/sessions/{part(id)}/events", limit=limit, after=after, life=life)

    def notice(self, text: str, id: str | None = None) -> Json:
        """The owner is told where the owner reads, once for each `id`."""
        return self._post("/notices", json=given(text=text, id=id))

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


def _waiting(http: httpx.Client, asked: Json) -> httpx.Timeout:
    """Patience enough for what is waited for on the other side."""
    return httpx.Timeout(http.timeout.connect, read=float(asked.get("timeout_sec") or WAITING_SECONDS) + 10)


def _file(file: File) -> tuple[str, bytes, str]:
    if isinstance(file, Path):
        return file.name, file.read_bytes(), _mime(file.name)
    return (file[0], file[1], file[2]) if len(file) == 3 else (file[0], file[1], _mime(file[0]))


def _mime(name: str) -> str:
    return mimetypes.guess_type(name)[0] or "application/octet-stream"
