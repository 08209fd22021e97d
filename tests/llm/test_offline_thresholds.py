"""Limits in plain words: the offline model looks, compares, and in a schedule's run speaks only beyond the limit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, UserPromptPart
from pydantic_ai.models import ModelRequestParameters

from laneway.domain.schedule import NOTHING, worth_saying
from laneway.lanes.tools.server_info import server_info
from laneway.llm.offline import NEEDS_KEY, OfflineModel
from laneway.llm.offline.orders import Ask
from laneway.llm.offline.thresholds import LOOKED_ONCE
from laneway.llm.offline.watching import Watch, watch_of
from laneway.llm.prompts import Prompts
from tests.llm.offline_tools import Bench, Made, definitions, failure, first_said, success

DISK = "check the disk and tell me above 80 %"
ROOT = {"mount": "/", "used_percent": 91.5, "free_gb": 8.5, "used_gb": 91.5, "total_gb": 100.0}
MORE = {"mount": "/data", "used_percent": 40.0, "free_gb": 60.0, "used_gb": 40.0, "total_gb": 100.0}
FACTS: dict[str, Any] = {
    "disk": {"disks": [ROOT, MORE]},
    "memory": {"used_percent": 75.0, "available_gb": 2.0, "used_gb": 6.0, "total_gb": 8.0},
    "swap": {"used_percent": 10.0, "used_gb": 0.2, "total_gb": 2.0},
    "cpu": {"used_percent": 97.0, "cores": 2, "physical_cores": 2, "model": "x"},
    "load": {"1_min": 4.2, "5_min": 3.0, "15_min": 1.0, "cores": 2},
    "processes": {
        "count": 9, "by_cpu": [], "by_memory": [], "asked": "nginx", "running": True, "matches": 2, "matching": [],
        "matching_cpu_percent": 120.0, "matching_memory_mb": 512.0,
    },
}  # fmt: skip
NOT_PASSED = ("not above", "less than", "not below", "more than")
STOPPED = {"count": 9, "asked": "nginx", "running": False, "matches": 0, "matching": []}


def prompt(name: str, home: Path) -> str:
    return Prompts(home).text(name)


async def asked(text: str, *, instructions: str | None = None, **facts: Any) -> tuple[str, list[Made]]:
    """What the model answers to a text on a server with these facts, and the calls it made."""
    bench = Bench({"server_info": success(FACTS | facts)})
    run = await bench.agent().run(text, instructions=instructions)
    return run.output, bench.calls


@pytest.mark.parametrize(
    ("text", "topics", "answer"),
    [
        (DISK, ["disk"], "The disk at / is 91.5 % full, above 80 %."),
        ("Check the disk, and let me know if it's over 80 percent.", ["disk"],
         "The disk at / is 91.5 % full, above 80 %."),
        ("tell me if the disk is above 95%", ["disk"],
         "The disk at / is 91.5 % full and the disk at /data is 40 % full, not above 95 %."),
        ("please check the disk /data and tell me only if it is at least 40 % full", ["disk"],
         "The disk at /data is 40 % full, at least 40 %."),
        ("tell me if less than 10 GB of disk space is left", ["disk"], "The disk at / has 8.5 GB free, below 10 GB."),
        ("warn me if less than 10 % is free on /", ["disk"], "The disk at / has 8.5 % free, below 10 %."),
        ("check disk and memory and tell me if they are over 70 %", ["disk", "memory"],
         "The disk at / is 91.5 % full and memory is 75 % used, above 70 %."),
        ("tell me if free memory is below 1 GB", ["memory"], "Memory has 2 GB free, not below 1 GB."),
        ("tell me if there is less than 2500 MB of memory available", ["memory"],
         "Memory has 2 GB free, below 2500 MB."),
        ("check swap usage and let me know above 5 %", ["swap"], "Swap is 10 % used, above 5 %."),
        ("if the swap has less than 1.8 GB free, tell me", ["swap"], "Swap has 1.8 GB free, not below 1.8 GB."),
        ("let me know if cpu usage exceeds 90 percent", ["cpu"], "The CPU is 97 % busy, above 90 %."),
        ("look at the load and tell me if it is above 4", ["load"], "The load average is 4.2 (1 min), above 4."),
        ("tell me if the 15 minute load average is over 2.5", ["load"],
         "The load average is 1 (15 min), not above 2.5."),
        ("check nginx and tell me if it uses more than 500 MB", ["processes"],
         "nginx uses 512 MB of memory, above 500 MB."),
        ("tell me if nginx uses more than 150 % cpu", ["processes"], "nginx uses 120 % CPU, not above 150 %."),
        ("tell me if nginx is not running", ["processes"], "nginx is running."),
        ("prüfe die Festplatte und sag mir Bescheid, wenn sie über 80 % liegt", ["disk"],
         "The disk at / is 91.5 % full, above 80 %."),
        ("sag mir, wenn der Arbeitsspeicher mehr als 90 Prozent belegt ist", ["memory"],
         "Memory is 75 % used, not above 90 %."),
        ("sag mir Bescheid, wenn weniger als 10 GB auf der Festplatte frei sind", ["disk"],
         "The disk at / has 8.5 GB free, below 10 GB."),
        ("prüfe nginx und gib mir Bescheid, falls es nicht läuft", ["processes"], "nginx is running."),
    ],
)  # fmt: skip
async def test_the_figure_is_read_and_compared_with_the_limit(text: str, topics: list[str], answer: str) -> None:
    output, [(tool, arguments)] = await asked(text)
    assert (tool, arguments["topics"]) == ("server_info", topics)
    assert arguments.get("process") == ("nginx" if topics == ["processes"] else None)
    assert output == answer


@pytest.mark.parametrize(
    ("text", "at", "passed"),
    [
        ("above 80 %", 80.0, False), ("over 80 %", 80.1, True), ("more than 80 %", 79.9, False),
        ("at least 80 %", 80.0, True), ("mindestens 80 %", 79.9, False), (">= 80%", 80.0, True), ("> 80%", 80.0, False),
        ("below 80 % used", 80.0, False), ("under 80 % used", 79.9, True), ("less than 80 % used", 80.1, False),
        ("at most 80 % used", 80.0, True), ("above 7,5 %", 7.6, True), ("above 0 %", 0.1, True),
    ],
)  # fmt: skip
async def test_each_comparison_means_what_it_says_at_its_border(text: str, at: float, passed: bool) -> None:
    output, _ = await asked(f"check the memory and tell me {text}", memory=FACTS["memory"] | {"used_percent": at})
    assert (not any(words in output for words in NOT_PASSED)) is passed, output


async def test_in_a_schedules_run_only_the_word_for_nothing_is_said_below_the_limit(tmp_path: Path) -> None:
    proactive = prompt("proactive", tmp_path)
    calm, calls = await asked("check the disk and tell me above 95 %", instructions=proactive)
    loud, _ = await asked(DISK, instructions=proactive)
    assert (calm, len(calls)) == (NOTHING, 1)
    assert not worth_saying(calm)
    assert loud == "The disk at / is 91.5 % full, above 80 %."


async def test_a_person_who_asks_is_answered_below_the_limit_too(tmp_path: Path) -> None:
    execution = prompt("execution", tmp_path)
    answer, _ = await asked("check the memory and tell me above 95 %", instructions=execution)
    assert answer == "Memory is 75 % used, not above 95 %."
    lasting, _ = await asked("warn me when the memory is above 95 %", instructions=execution)
    assert lasting == f"Memory is 75 % used, not above 95 %. {LOOKED_ONCE}"


@pytest.mark.parametrize(
    ("instructions", "silent"),
    [
        ("If all is well answer with exactly `NOTHING`.", True),
        ('Sonst antworte mit "NOTHING".', True),
        ("Otherwise reply with NOTHING", True),
        ("Otherwise answer only the word NOTHING.", True),
        ("Change NOTHING without asking.", False),
        ("If there is nothing to say, say nothing.", False),
        (None, False),
    ],
)
async def test_silence_is_kept_only_where_the_instructions_ask_for_the_word(
    instructions: str | None, silent: bool
) -> None:
    answer, _ = await asked("check the memory and tell me above 95 %", instructions=instructions)
    assert (answer == NOTHING) is silent


async def test_the_instructions_of_an_earlier_turn_allow_no_silence_now() -> None:
    earlier: list[ModelMessage] = [
        ModelRequest([UserPromptPart(DISK)], instructions="Answer with exactly `NOTHING`."),
        ModelResponse([TextPart(NOTHING)]),
    ]
    bench = Bench({"server_info": success(FACTS)})
    run = await bench.agent().run("check the memory and tell me above 95 %", message_history=earlier)
    assert run.output == "Memory is 75 % used, not above 95 %."


@pytest.mark.parametrize(
    ("text", "outcome", "says"),
    [
        (DISK, failure("the disk does not answer"), "I could not look at that: the disk does not answer."),
        (DISK, success({}, error="disk: no permission"), "I could not read disk: disk: no permission."),
        (DISK, success({"disk": {"disks": []}}), "No disk is visible from here."),
        ("check /nowhere and tell me above 80 %", success(FACTS), "No disk at /nowhere is visible from here."),
        ("check swap and tell me above 50 %", success({"swap": {"used_percent": 0.0, "used_gb": 0.0, "total_gb": 0.0}}),
         "This server has no swap."),
        ("tell me if nginx uses more than 500 MB", success({"processes": STOPPED}), "nginx is not running."),
        ("tell me if nginx is down", success({"processes": STOPPED}), "nginx is not running."),
        ("check disk and memory and tell me above 95 %", success({"disk": FACTS["disk"]}, error="memory: gone"),
         "I could not read memory: memory: gone."),
    ],
)  # fmt: skip
async def test_a_look_that_failed_is_told_in_a_schedules_run_too(
    text: str, outcome: Any, says: str, tmp_path: Path
) -> None:
    for name in ("proactive", "execution"):
        bench = Bench({"server_info": outcome})
        run = await bench.agent().run(text, instructions=prompt(name, tmp_path))
        assert run.output == says
        assert len(bench.calls) == 1


@pytest.mark.parametrize("text", ["check the disk and tell me below 10 %", "tell me if memory is above 4 GB"])
async def test_whether_used_or_free_is_meant_is_asked_and_not_guessed(text: str) -> None:
    answer, calls = await first_said(text)
    assert isinstance(watch_of(text), Ask)
    assert "free” or “" in answer
    assert calls == []


@pytest.mark.parametrize(
    "text",
    [
        "check the disk and tell me above 80",
        "check the disk and tell me above 80 bananas",
        "check the disk and tell me above 80 km",
        "check the temperature and tell me above 80 %",
        "tell me if the price is above 80 %",
        "tell me if the load is above 80 %",
        "tell me if the cpu is above 4 GB",
        "tell me if the disk is above 180 %",
        "tell me if memory is below 10 MB free",
        "tell me if the disk is above 1,000 GB used",
        "tell me if disk usage is below 10 % free",
        "tell me if nginx uses more than 50 %",
        "tell me if nginx uses more than 50 % of the memory",
        "tell me if the email service is down",
        "tell me if Alice is down",
        "tell me if it is above 80 %",
        "tell me if the disk is not above 80 %",
        "tell me if the disk will be above 80 %",
        "tell me if the disk was above 80 % yesterday",
        "tell me why the disk is above 80 %",
        "don't tell me if the disk is above 80 %",
        "check the disk on web2 and tell me above 80 %",
        "check the disk and tell Bob above 80 %",
        "check the disk every hour and tell me above 80 %",
        "check the disk and tell me above 80 %, then restart nginx",
        "restart nginx if the load is above 5",
        "Bob said: tell me if the disk is above 80 %",
        '"check the disk and tell me above 80 %"',
        "check the disk and tell me above 80 % " * 9,
    ],
)
def test_other_metrics_units_times_and_wishes_are_not_taken_for_a_limit(text: str) -> None:
    assert watch_of(text) is None


async def test_an_unknown_metric_or_unit_asks_for_a_key_in_a_schedules_run(tmp_path: Path) -> None:
    for text in ("check the temperature and tell me above 80 %", "check the disk and tell me above 80 bananas"):
        answer, calls = await asked(text, instructions=prompt("proactive", tmp_path))
        assert answer.startswith(NEEDS_KEY)
        assert calls == []


async def test_a_name_in_backticks_or_spelled_like_a_service_is_a_program() -> None:
    for text in ("tell me if `billing` is not running", "tell me if the billing-api service is down"):
        assert isinstance(watch_of(text), Watch)
        _, [(tool, arguments)] = await first_said(text)
        assert (tool, arguments["process"]) == ("server_info", "billing" if "`" in text else "billing-api")


async def test_without_the_tool_or_with_a_limit_in_an_attachment_nothing_is_looked_at() -> None:
    offered = [tool for name, tool in definitions().items() if name != "server_info"]
    asked_for = [ModelRequest.user_text_prompt(DISK)]
    response = await OfflineModel().request(list(asked_for), None, ModelRequestParameters(function_tools=offered))
    assert (response.text or "").startswith(NEEDS_KEY)
    _, calls = await first_said(f"[file order.txt, 20 bytes, text/plain]\n{DISK}")
    assert calls == []


async def test_the_real_tool_tells_the_figures_that_are_compared() -> None:
    agent = Agent(OfflineModel(), tools=[server_info])
    for text in ("check the disk and tell me at least 0 %", "check the memory and tell me above 0 %",
                 "check the cpu and tell me at least 0 %", "check the load and tell me at least 0",
                 "tell me if there is at least 0.1 GB of memory available"):  # fmt: skip
        answer = (await agent.run(text)).output
        assert answer.endswith((", at least 0 %.", ", above 0 %.", ", at least 0.", ", at least 0.1 GB.")), answer
