"""Summary and plan of a judgement that no model made: templates over label, verb and object."""

from __future__ import annotations

import re

from laneway.classify.grammar import order_of

LONGEST = 120
SUMMARIES = {
    "message": {
        "question": "The user asks: {text}",
        "command": "The user wants done: {order}",
        "other": "Small talk: {text}",
    },
    "route": {
        "answer": "Can be answered at once: {text}",
        "tools": "Wants something looked up or done now: {order}",
        "pipeline": "Wants a table worked on once: {order}",
        "workflow": "Wants a lasting automation: {order}",
        "function": "Describes a function: {order}",
        "codegen": "Wants a program built: {order}",
    },
}
PLANS = {
    "message": {
        "question": "Look it up with the tools at hand and answer.",
        "command": "{verb} {object} with the tools at hand and report.",
        "other": "Answer briefly.",
    },
    "route": {
        "answer": "Answer from what is known; change nothing.",
        "tools": "{verb} {object} with the tools at hand and report.",
        "pipeline": "Plan the table operations, run them once and show the rows.",
        "workflow": "Draft the change of the stored workflow and show it before it counts.",
        "function": "Define the function and call it with its arguments.",
        "codegen": "Plan the program, write it step by step and test it.",
    },
}
UNKNOWN = ("It is {label}: {text}", "Treat it as {label}.")


def summary(taxonomy: str, label: str, text: str, said: str = "") -> str:
    """One sentence that says what the user wants; where words were `said` that only refer to the text, both."""
    template = SUMMARIES.get(taxonomy, {}).get(label, UNKNOWN[0])
    if said:
        told = order = f"“{_short(said)}”, which refers to “{_short(text)}”"
    else:
        told = _short(text) or "(no text)"
        order = _short(" ".join(order_of(text))) or told
    return template.format(text=told, order=order, label=label.replace("_", " "))


def plan(taxonomy: str, label: str, text: str, said: str = "") -> str:
    """One sentence that says how to go about it."""
    template = PLANS.get(taxonomy, {}).get(label, UNKNOWN[1])
    # Whoever reads verb and object of what the words only refer to would do the same once more.
    verb, thing = ("", "") if said else order_of(text)
    if "{verb}" in template and not verb:
        return "Do it with the tools at hand and report."
    filled = template.format(verb=verb.capitalize(), object=_short(thing), label=label.replace("_", " "))
    return re.sub(r"\s+", " ", filled)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
