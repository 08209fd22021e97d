"""`laneway why`: the whole life of one message, readable from top to bottom."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from laneway.cli.connection import Json, as_id, connect
from laneway.cli.printing import between, lasting, local, money, plain, print_json


def why(
    message: Annotated[str, typer.Argument(help="The id of a message, a reply or a job.")], as_json: Json = False
) -> None:
    """Tell the whole life of one message.

    Received, classified by whom, done step by step, asked, paid and answered.
    """
    with connect() as client:
        life = client.why(as_id(message, "message"))
    if as_json:
        print_json(life)
    else:
        print(plain("\n".join(told(life))))


def told(life: dict[str, Any]) -> Iterator[str]:
    """The lines of the story."""
    yield from _received(life)
    yield from _classified(life)
    for correction in life["corrections"]:
        yield _corrected(correction)
    for job in life["jobs"]:
        yield from _worked(job)
    for approval in life["approvals"]:
        yield from _asked(approval)
    yield from _answered(life)
    tokens = life["tokens"]
    yield f"Altogether: {tokens:,} tokens, {money(life['cost'])}."


def _received(life: dict[str, Any]) -> Iterator[str]:
    message, received = life["message"], life["received"]
    yield f"Message {message['id']}"
    yield from _quoted(message["text"])
    yield f"Received {local(received['at'])} by {received['channel']}, id there: {received['external_id']}."
    if received["duplicates"]:
        yield f"  The same message came {_times(received['duplicates'])} more; nothing was run again."


def _classified(life: dict[str, Any]) -> Iterator[str]:
    judged = life["classification"]
    if judged is None:
        yield "Not classified yet."
        return
    runner_up = f", then {judged['runner_up']}" if judged["runner_up"] else ""
    yield (
        f"Classified by {judged['decided_by']} in {lasting(judged['milliseconds'])} as {judged['intent']} "
        f"({judged['confidence']:.0%}{runner_up})."
    )
    yield f"  Summary: {judged['summary']}"
    if judged["plan"]:
        yield f"  Plan: {judged['plan']}"
    if judged["needs_confirmation"]:
        yield "  It needs an approval."
    if life["route"]:
        lane = life["route"]["lane"]
        yield f"Routed {f'to the lane {lane}' if lane else 'to no lane'}: {life['route']['why']}."


def _corrected(correction: dict[str, Any]) -> str:
    confirm = {True: ", needs an approval", False: ", needs no approval"}.get(correction["flag"], "")
    outcome = "not decided yet" if correction["state"] == "pending" else correction["state"]
    said = f"Corrected {local(correction['created_at'])} to {correction['label']}{confirm}: {outcome}."
    return f"{said} {correction['reason']}".rstrip()


def _worked(job: dict[str, Any]) -> Iterator[str]:
    took = f", {lasting(job['total_ms'])} in all" if job["total_ms"] is not None else ""
    waited = f"queued for {lasting(job['queued_ms'])}" if job["queued_ms"] is not None else "not started yet"
    runs = "1 run" if job["runs"] == 1 else f"{job['runs']} runs"
    yield f"Job {job['id']}: {job['status']} (mode {job['mode']}, {runs}; {waited}{took})."
    for step in job["steps"]:
        failed = "  FAILED" if step["failed"] else ""
        began = local(step["began"], precise=True)
        yield f"  {began}  run {step['run']}  {step['name']:<24} {lasting(step['milliseconds']):>8}{failed}"
    for call in job["model_calls"]:
        yield (
            f"  Model {call['provider']}:{call['model']}: {call['tokens_input']:,} tokens in, "
            f"{call['tokens_output']:,} out, {money(call['cost'])} ({call['state']})."
        )
    for tool in job["tools"]:
        took = between(tool["created_at"], tool["finished_at"])
        yield f"  Tool {tool['tool']}: {tool['state']}{f', {took}' if took else ''}."
    for said in job["reactions"]:
        yield f"  {local(said['at'], precise=True)}  Reactor {said['reactor']} {said['what']}: {said['message']}"
    if job["error"]:
        yield f"  Error: {job['error'].get('message', '')}"


def _asked(approval: dict[str, Any]) -> Iterator[str]:
    yield f"Asked {local(approval['created_at'])}: {approval['why']}"
    if approval["state"] == "pending":
        yield f"  Waiting for an answer until {local(approval['deadline'])}: laneway approve {approval['id']}"
    else:
        yield f"  {approval['state'].capitalize()} {local(approval['answered_at'])}."


def _answered(life: dict[str, Any]) -> Iterator[str]:
    for reply in life["replies"]:
        sent = f"Sent {local(reply['sent_at'])}" if reply["sent_at"] else f"Reply, {reply['state']}"
        yield f"{sent}{', a second time after an interruption' if reply['resent'] else ''}:"
        yield from _quoted(reply["text"])
    if not life["replies"]:
        yield "No reply yet."


def _quoted(text: str) -> Iterator[str]:
    for line in text.splitlines():
        yield f"  | {line}"


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"
