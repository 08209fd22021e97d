"""Skill: tasks for people, work for other lanes, and looking for a tool.

Shapes:
    create a task: … · add a task to … · new task: … · put "…" on my task list                → `create_task`
    delegate to the codegen lane: … · hand this to the workflow lane: …                       → `delegate`
    search the tools for … · find a tool for …                                                → `search_tools`
    lege eine Aufgabe an: … · erstelle eine Aufgabe: … · crée une tâche : … · crea una tarea: …
"""

from __future__ import annotations

from laneway.llm.offline.orders import Offer, Telling, Understood, one, saying
from laneway.llm.offline.outcomes import Outcome, block, listed
from laneway.llm.offline.politeness import Words
from laneway.llm.offline.shapes import fitting, shapes

CREATE_TASK, DELEGATE, SEARCH_TOOLS = "create_task", "delegate", "search_tools"

_TASKS = shapes(
    "@add_task(?: me)? @the@task(?: (?:for me|for us|an|fur mich|pour moi|para mi))? ?: ?<title:rest>",
    "@add_task(?: me)? @the@task(?: for (?:me|us))? (?:to|called|named|titled|saying) <title:rest>",
    "(?:new|neue|nouvelle|nueva) @task ?: ?<title:rest>",
    "(?:put|add) <title:quoted> (?:on|to) (?:my|the|our) (?:tasks?|to-?dos?)(?:[ -]list)?",
)
_DELEGATES = shapes(
    r"(?:delegate|hand|pass|give) (?:this |it )?(?:over )?to (?:the )?(?P<lane>[a-z]{3,20})(?: lane)?\s*:\s*<text:rest>"
)
_SEARCHES = shapes(
    r"(?:search|look through|search through) (?:the |your |my )?(?:tools|toolbox) for <query:rest>",
    r"(?:find|search for|look for) (?:me )?(?:a |the )?tools? (?:for|to|that can|which can) <query:rest>",
)


def task_orders(words: Words, offer: Offer) -> Understood:
    """A call that makes a task, hands work on, or looks for a tool."""
    for found in fitting(words.free, _SEARCHES):
        query = found.value("query")
        tell = _found(query)
        return one(offer.order(SEARCH_TOOLS, "search the tools", tell, query=query))
    if words.is_question:
        return None
    for found in fitting(words.free, _TASKS):
        title = found.value("title")
        is_free = found.part("title").quoted is None
        return one(offer.order(CREATE_TASK, "create the task", _created(title), is_free=is_free, title=title))
    for found in fitting(words.free, _DELEGATES):
        lane, text = found.value("lane").lower(), found.value("text")
        tell = saying(f"Handed to the {lane} lane: {text}")
        return one(offer.order(DELEGATE, f"hand this to {lane}", tell, is_free=True, lane=lane, text=text))
    return None


def _created(title: str) -> Telling:
    def tell(outcome: Outcome) -> str:
        number = outcome.fields.get("id") or outcome.fields.get("task_id")
        return f"Created the task “{title}”" + (f" ({number})." if number else ".")

    return tell


def _found(query: str) -> Telling:
    def tell(outcome: Outcome) -> str:
        tools = listed(outcome.result)
        return f"Tools for “{query}”:\n{block(chr(10).join(tools))}" if tools else f"No tool found for “{query}”."

    return tell
