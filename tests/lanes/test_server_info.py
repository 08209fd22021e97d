"""`server_info` against this very machine."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import psutil

from laneway.domain.redaction import HIDDEN, redacted
from laneway.lanes.tools.server_info import TOPICS, server_info, server_info_with_log
from laneway.lanes.tools.server_logs import newest_lines


async def test_every_topic_is_read_and_the_figures_are_those_of_this_machine() -> None:
    told = await server_info(list(TOPICS))
    result, now = told["result"], datetime.now().astimezone()
    assert told["status"] == "success"
    assert set(TOPICS) - set(result) <= {"logs"}
    assert json.loads(json.dumps(told)) == told
    assert abs(result["uptime"]["seconds"] - (now.timestamp() - psutil.boot_time())) < 120
    assert result["memory"]["total_gb"] == round(psutil.virtual_memory().total / 1024**3, 1)
    assert result["disk"]["disks"][0]["mount"] == "/"
    assert result["cpu"]["cores"] == psutil.cpu_count()
    assert result["os"]["kernel"].endswith(os.uname().release)
    assert result["time"]["utc_offset"] == now.strftime("%z")
    assert result["time"]["date"] in {now.strftime("%Y-%m-%d"), result["time"]["utc"][:10]}
    assert result["time"]["zone"]


async def test_a_process_is_told_by_name_and_figures_but_never_by_its_command_line() -> None:
    secretive = [sys.executable, "-c", "import time; time.sleep(60)", "--password=hunter2secret"]
    with await asyncio.to_thread(subprocess.Popen, secretive) as running:
        name = psutil.Process(running.pid).name()
        told = (await server_info(["processes"], process=name))["result"]["processes"]
        running.kill()
    assert (told["running"], told["matches"] >= 1) == (True, True)
    assert "hunter2secret" not in json.dumps(told)
    assert all(set(one) == {"name", "pid", "cpu_percent", "memory_mb"} for one in told["by_cpu"] + told["matching"])
    told = (await server_info(["processes"], process="no-such-program"))["result"]["processes"]
    assert (told["running"], told["matches"]) == (False, 0)


async def test_an_unknown_topic_is_an_error_that_names_the_known_ones() -> None:
    told = await server_info(["weather"])  # type: ignore[list-item]
    assert told["status"] == (await server_info([]))["status"] == "error"
    assert {"weather", "uptime"} <= set(re.findall(r"\w+", told["error"] or ""))


async def test_the_newest_lines_come_from_the_first_readable_file_and_none_is_cut(tmp_path: Path) -> None:
    log = tmp_path / "laneway.log"
    log.write_text("".join(f"{number:07d} {'a log line' * 9}\n" for number in range(2900)))
    told = newest_lines([tmp_path / "absent", log], 2)
    assert told == {"file": str(log), "lines": [f"{number:07d} {'a log line' * 9}" for number in (2898, 2899)]}
    lines = newest_lines([log], 1_000_000)["lines"]
    assert (len(lines), {len(line) for line in lines}) == (200, {98})


async def test_where_no_log_file_is_readable_the_rest_is_told(tmp_path: Path) -> None:
    told = await server_info_with_log(tmp_path / "absent.log")(["logs", "uptime"], 5, None)
    assert (told["status"], "uptime" in told["result"]) == ("success", True)
    assert "logs" in told["result"] or "journal is not read" in (told["error"] or "")


def test_what_looks_like_a_secret_is_taken_out_of_a_log_line() -> None:
    for line in (
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
    ):
        assert "s3cr3tvalue" not in redacted(line), line
        assert HIDDEN in redacted(line)
    ordinary = "Nov 15 20:00:01 vm sshd[11]: Accepted publickey for kim from 10.0.0.7 port 22"
    assert redacted(ordinary) == ordinary
