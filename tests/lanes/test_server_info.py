"""`server_info` against this very machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import psutil
import pytest

from laneway.lanes.tools import server_info as tool
from laneway.lanes.tools.server_info import TOPICS, server_info, server_info_with_log
from laneway.lanes.tools.server_logs import newest_lines, redact


async def test_every_topic_is_read_and_the_whole_result_is_json() -> None:
    told = await server_info(list(TOPICS))
    assert told["status"] == "success"
    assert set(TOPICS) - set(told["result"]) <= {"logs"}
    assert json.loads(json.dumps(told)) == told


async def test_the_figures_are_those_of_this_machine() -> None:
    result = (await server_info(["uptime", "memory", "disk", "cpu", "os"]))["result"]
    assert abs(result["uptime"]["seconds"] - (time.time() - psutil.boot_time())) < 120
    assert result["memory"]["total_gb"] == round(psutil.virtual_memory().total / 1024**3, 1)
    assert result["disk"]["disks"][0]["mount"] == "/"
    assert result["cpu"]["cores"] == psutil.cpu_count()
    assert result["os"]["kernel"].endswith(os.uname().release)


async def test_the_time_is_local_and_names_its_zone() -> None:
    told = (await server_info(["time"]))["result"]["time"]
    now = datetime.now().astimezone()
    assert told["utc_offset"] == now.strftime("%z")
    assert told["date"] in {now.strftime("%Y-%m-%d"), told["utc"][:10]}
    assert told["zone"]


@pytest.fixture
def secretive_process() -> Iterator[subprocess.Popen[bytes]]:
    code = "import time; time.sleep(60)"
    running = subprocess.Popen([sys.executable, "-c", code, "--password=hunter2secret"])
    yield running
    running.kill()
    running.wait()


async def test_a_process_is_told_by_name_and_figures_but_never_by_its_command_line(
    secretive_process: subprocess.Popen[bytes],
) -> None:
    name = psutil.Process(secretive_process.pid).name()
    told = (await server_info(["processes"], process=name))["result"]["processes"]
    assert told["running"] is True
    assert told["matches"] >= 1
    assert "hunter2secret" not in json.dumps(told)
    assert all(set(one) == {"name", "pid", "cpu_percent", "memory_mb"} for one in told["by_cpu"] + told["matching"])


async def test_a_program_that_is_not_there_is_said_not_to_run() -> None:
    told = (await server_info(["processes"], process="no-such-program"))["result"]["processes"]
    assert (told["running"], told["matches"]) == (False, 0)


async def test_an_unknown_topic_is_an_error_that_names_the_known_ones() -> None:
    told = await server_info(["weather"])  # type: ignore[list-item]
    assert told["status"] == "error"
    assert "weather" in (told["error"] or "")
    assert "uptime" in (told["error"] or "")


async def test_no_topic_is_an_error() -> None:
    assert (await server_info([]))["status"] == "error"


def test_the_newest_lines_come_from_the_first_readable_file(tmp_path: Path) -> None:
    log = tmp_path / "laneway.log"
    log.write_text("\n".join(f"line {number}" for number in range(1, 51)))
    told = newest_lines([tmp_path / "absent", log], 3)
    assert told == {"file": str(log), "lines": ["line 48", "line 49", "line 50"]}


async def test_where_no_log_file_is_readable_it_says_so_and_still_tells_the_rest(tmp_path: Path) -> None:
    told = await server_info_with_log(tmp_path / "absent.log")(["logs", "uptime"], 5, None)
    assert told["status"] == "success"
    assert "uptime" in told["result"]
    if "logs" not in told["result"]:
        assert "journal is not read" in (told["error"] or "")


async def test_only_a_long_log_s_end_is_read_and_no_half_line_is_shown(tmp_path: Path) -> None:
    log = tmp_path / "big.log"
    log.write_text("".join(f"{number:07d} {'x' * 90}\n" for number in range(20_000)))
    lines = newest_lines([log], 1_000_000)["lines"]
    assert len(lines) == 200
    assert all(len(line) == 98 for line in lines)


@pytest.mark.parametrize(
    "line",
    [
        "login with password=s3cr3tvalue ok",
        "api_key: s3cr3tvalue",
        '{"token": "s3cr3tvalue", "user": "kim"}',
        "ANTHROPIC_API_KEY='s3cr3tvalue'",
        "Authorization: Bearer s3cr3tvalue",
        "sent header bearer s3cr3tvalue.abc",
        "using sk-ant-s3cr3tvalue",
        "postgres://app:s3cr3tvalue@db/app",
        "jwt eyJs3cr3tvalue.eyJs3cr3tvalue.s3cr3tvalue",
        "bot 123456789:s3cr3tvalue-s3cr3tvalue-s3cr3tvalue started",
        "-----BEGIN RSA PRIVATE KEY-----\ns3cr3tvalue\n-----END RSA PRIVATE KEY-----",
    ],
)
def test_what_looks_like_a_secret_is_taken_out_of_a_log_line(line: str) -> None:
    assert "s3cr3tvalue" not in redact(line)
    assert "[redacted]" in redact(line)


def test_an_ordinary_log_line_stays_as_it_is() -> None:
    line = "Nov 15 20:00:01 vm sshd[11]: Accepted publickey for kim from 10.0.0.7 port 22"
    assert redact(line) == line


def test_the_tool_and_its_variant_look_the_same_to_a_model(tmp_path: Path) -> None:
    variant = server_info_with_log(tmp_path / "own.log")
    assert (variant.__name__, variant.__doc__) == (tool.server_info.__name__, tool.server_info.__doc__)
