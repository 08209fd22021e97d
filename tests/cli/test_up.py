"""`laneway up` and `laneway worker`: how they start, what stops them from starting, and how signals end them."""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.cli.conftest import MODEL, Server
from tests.cli.processes import Running, Shell, eventually, free_port, postgres_of, up
from tests.conftest import address_of
from tests.servers import Delay, Hang, OpenAIServer, Say


def test_a_start_prints_when_where_who_and_the_key_once(server: Server) -> None:
    # The last line may still be on its way.
    eventually(lambda: len(server.running.printed) == 5)
    ready, address, model, key, where = server.running.printed
    assert re.fullmatch(r"Laneway is ready after \d+\.\d s\.", ready)
    assert address == f"Address: http://127.0.0.1:{server.shell.environ['LANEWAY_PORT']}"
    assert model.startswith("Model:   openai: gpt-4.1")
    stored = (server.home / "key").read_text(encoding="utf-8").strip()
    assert key.removeprefix("Key:     ") == stored
    assert str(server.home / "key") in where
    assert stat.S_IMODE((server.home / "key").stat().st_mode) == 0o600
    assert stored not in (server.home / "laneway.log").read_text(encoding="utf-8")


def test_a_port_or_a_home_that_is_taken_is_named_before_anything_starts(server: Server, shell: Shell) -> None:
    port = server.shell.environ["LANEWAY_PORT"]
    assert f"Port {port} on 127.0.0.1 is taken" in shell.refused("up", "--port", port, code=1)
    assert not (shell.folder / "home").exists()
    refusal = server.shell.refused("up", "--port", "0", code=1)
    assert f"process {server.running.process.pid}" in refusal
    assert str(server.home) in refusal


def test_a_place_that_cannot_be_used_is_bad_input_and_a_database_out_of_reach_is_three(shell: Shell) -> None:
    cases = {
        "up --host nowhere.invalid": "`nowhere.invalid` is not an address",
        "up --host 192.0.2.1": "Nothing can listen on 192.0.2.1",
        "up --home /proc/laneway": "/proc/laneway cannot be used",
        "worker --home /proc/laneway": "/proc/laneway cannot be used",
    }
    for line, says in cases.items():
        assert says in shell.refused(*line.split())
    address = f"postgresql://me:sesame@127.0.0.1:{free_port()}/laneway"
    for command in ("up", "worker"):
        complaints = shell.ended(command, code=3, DATABASE_URL=address).stderr
        assert "cannot be reached" in complaints
        assert "sesame" not in complaints


def test_the_address_of_a_model_server_is_all_that_it_needs(shell: Shell) -> None:
    with OpenAIServer() as model:
        shell.environ |= {
            "OPENAI_BASE_URL": model.url,
            "LANEWAY_URL": f"http://127.0.0.1:{shell.environ['LANEWAY_PORT']}",
        }
        for names, says in ((("llama3:8b", "qwen"), "offline (OPENAI_BASE_URL has 2 models: llama3:8b, qwen; set "
                             "DEFAULT_MODEL=openai:MODEL)"), (("qwen",), "openai: qwen")):  # fmt: skip
            model.listing = {"data": [{"id": name} for name in names]}  # type: ignore[misc]
            running = up(shell)
            try:
                assert next(line for line in running.printed if line.startswith("Model:")) == f"Model:   {says}"
                model.script.then(Say("Here."), Say("Here."))
                answer = shell.run("send", "tell me a story about a lighthouse", "--thread", names[0])
                checks = json.loads(shell.run("doctor", "--json", code=len(names) - 1))["findings"]
            finally:
                running.stop()
            assert ("Here." in answer) is (len(names) == 1), answer
            [checked] = [one for one in checks if one["check"] == "model"]
            assert (checked["state"], says.removeprefix("offline (").rstrip(")")[:40] in checked["says"]) == (
                "ok" if len(names) == 1 else "fail", True
            )  # fmt: skip
    # The doctor really asked it, and nobody had to know a price.
    assert "Say OK." in str(model.requests[-1].body)


def test_a_worker_shares_the_database_and_says_so_in_one_line(server: Server) -> None:
    worker = Running(server.shell.start("worker"), "Worker ")
    try:
        assert len(worker.printed) == 1
        alive = server.shell.run("sql", "SELECT 1 FROM workers WHERE gone_at IS NULL", "--json")
        assert len(json.loads(alive)["rows"]) == 2
    finally:
        worker.signal(signal.SIGTERM)
        assert worker.ended() == 0
    assert postgres_of(server.home) != []


def test_a_worker_on_another_database_makes_the_tables_itself(shell: Shell, postgres: str) -> None:
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("CREATE DATABASE worker_alone")
    worker = Running(shell.start("worker", DATABASE_URL=address_of(postgres, "worker_alone")), "Worker ")
    worker.signal(signal.SIGINT)
    assert worker.ended() == 130
    assert postgres_of(shell.folder) == []


def shell_in(folder: str) -> Shell:
    """A shell in a folder that an embedded server can use even where root runs the tests: pytest's own is closed."""
    return Shell(Path(folder), {"LANEWAY_HOME": f"{folder}/home", "LANEWAY_PORT": str(free_port())})


@pytest.fixture(scope="module")
def used() -> Iterator[Shell]:
    """A shell whose data directory has been used before, so that starts are quick."""
    with tempfile.TemporaryDirectory(prefix="laneway-up-") as folder:
        up(shell := shell_in(folder)).stop()
        yield shell


def home(shell: Shell) -> Path:
    return Path(shell.environ["LANEWAY_HOME"])


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["loading", "the database is made"])
def test_ctrl_c_in_a_terminal_during_the_first_start_leaves_nothing_behind(moment: str) -> None:
    with tempfile.TemporaryDirectory(prefix="laneway-up-") as folder:
        shell = shell_in(folder)
        process = shell.start("up", own_terminal=True)
        maps = Path(f"/proc/{process.pid}/maps")
        if moment == "loading":
            eventually(lambda: "pydantic_core" in maps.read_text(encoding="utf-8", errors="replace"), 60)
        else:
            eventually((home(shell) / "postgres" / "PG_VERSION").exists, 60)
        # A terminal signals everybody in it: also whoever is making the database just now.
        os.killpg(process.pid, signal.SIGINT)
        _, complaints = process.communicate(timeout=60)
        # Interrupted inside an eval of a string, CPython ends itself by the signal; a shell shows 130 for both.
        assert process.returncode in (130, -signal.SIGINT)
        assert "Error" not in complaints
        assert "Traceback" not in complaints
        assert postgres_of(home(shell)) == []
        up(shell).stop()


@pytest.mark.slow
def test_ctrl_c_ends_it_with_130_and_a_new_key_replaces_the_old(used: Shell) -> None:
    old = (home(used) / "key").read_text(encoding="utf-8").strip()
    running = up(used, "--new-key", "--port", "0")
    eventually(lambda: len(running.printed) == 5)
    new = running.printed[3].removeprefix("Key:     ")
    assert new not in ("", old)
    assert "opens nothing" in used.refused("threads", code=1, LANEWAY_KEY=old)
    # Commands find it although it took another port than the settings say.
    assert used.run("threads") != ""
    running.signal(signal.SIGINT)
    assert running.ended() == 130
    assert postgres_of(home(used)) == []


@pytest.mark.slow
def test_sigterm_lets_what_runs_end_stops_postgresql_and_ends_it_with_zero(used: Shell) -> None:
    with OpenAIServer() as model:
        model.script.then(Delay(Say("Just in time."), per_piece=0.3))
        running = up(used, DEFAULT_MODEL=MODEL, OPENAI_BASE_URL=model.url)
        assert len(running.printed) == 3, "the key is shown once"
        sent = json.loads(used.run("send", "what takes a second?", "--no-wait", "--json"))
        eventually(lambda: len(model.requests) == 1)
        assert postgres_of(home(used)) != []
        running.signal(signal.SIGTERM)
        assert running.ended() == 0
        assert postgres_of(home(used)) == []
        assert not any("Traceback" in line for line in running.complaints)
        running = up(used, DEFAULT_MODEL=MODEL, OPENAI_BASE_URL=model.url)
        eventually(lambda: json.loads(used.run("jobs", "show", sent["job_id"], "--json"))["status"] == "done")
        assert len(model.requests) == 1, "the call that was finished is not made again"
        running.stop()


@pytest.mark.slow
def test_a_second_signal_ends_it_at_once(used: Shell) -> None:
    with OpenAIServer() as model:
        model.script.then(Hang(60))
        running = up(used, DEFAULT_MODEL=MODEL, OPENAI_BASE_URL=model.url)
        used.run("send", "what hangs?", "--no-wait")
        eventually(lambda: len(model.requests) == 1)
        running.signal(signal.SIGTERM)
        eventually(lambda: any(line.startswith("Stopping") for line in running.complaints))
        running.signal(signal.SIGTERM)
        # What runs would have had ten.
        assert running.ended(8) == 143
        eventually(lambda: postgres_of(home(used)) == [])


@pytest.mark.fault
def test_after_a_kill_postgresql_is_taken_over_and_stopped_in_the_end(used: Shell) -> None:
    killed = up(used)
    killed.signal(signal.SIGKILL)
    assert killed.ended() == -signal.SIGKILL
    assert postgres_of(home(used)) != []
    running = up(used)
    running.signal(signal.SIGTERM)
    assert running.ended() == 0
    assert postgres_of(home(used)) == []


@pytest.mark.slow
def test_on_a_fresh_data_directory_the_small_model_is_shown_the_nearest_examples() -> None:
    with tempfile.TemporaryDirectory(prefix="laneway-up-") as folder, OpenAIServer() as model:
        shell = shell_in(folder)
        log, cache = home(shell) / "laneway.log", home(shell) / "cache" / "classify"
        running = up(shell, LANEWAY_LOCAL_CLASSIFIER="true", DEFAULT_MODEL=MODEL, OPENAI_BASE_URL=model.url)
        try:
            eventually(
                lambda: list(cache.glob("message-meanings-*.npz")) or "Training (prepare) ended" in log.read_text(), 250
            )
            shell.run("send", "the nginx thing again, like last time")
        finally:
            running.stop()
        assert "Traceback" not in "\n".join([*running.complaints, log.read_text()])
        assert any("<examples>" in json.dumps(request.body) for request in model.requests)
