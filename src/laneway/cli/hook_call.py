"""`laneway hooks call AGENT`: passes what an agent sends on to the server, and says what it answered.

An agent starts this before every tool call and waits, so that only the quickest of the standard library is imported.
Whatever happens to the server, the agent gets an answer it understands: `hooks_when_down` says which.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import time

from laneway.observe.hooks.answers import AGENTS, BEFORE, Answer, denial, when_down

PATIENCE = 3.0
"""Seconds the server has for its answer."""
LONGEST_ANSWER = 1_000_000
USUAL = "http://127.0.0.1:8600"
OPTIONS = ("--home", "--when-down", "--cannot-ask", "--seconds")
_RULES = {"--when-down": ("ask", "allow", "deny"), "--cannot-ask": ("deny", "leave")}


class NoAnswer(Exception):
    """Laneway did not answer as it should; the text says what happened."""


def run(arguments: list[str]) -> int:
    """The answer is on standard output; the exit code is 2 if it denies the call, which every agent understands."""
    if not arguments or arguments[0] not in AGENTS or len(arguments) % 2 == 0:
        return _misused()
    agent, given = arguments[0], dict(zip(arguments[1::2], arguments[2::2], strict=True))
    if any(name not in OPTIONS or value not in _RULES.get(name, (value,)) for name, value in given.items()):
        return _misused()
    body = sys.stdin.buffer.read()
    try:
        answer = asked(agent, body, _home(given), float(given.get("--seconds", PATIENCE)))
    except NoAnswer as error:
        rule = given.get("--when-down") or os.environ.get("LANEWAY_HOOKS_WHEN_DOWN") or "ask"
        cannot_ask = given.get("--cannot-ask") or os.environ.get("LANEWAY_HOOKS_CANNOT_ASK") or "deny"
        rule = rule if rule in _RULES["--when-down"] else "ask"
        answer = when_down(agent, _event(agent, body), rule, str(error), cannot_ask=cannot_ask)
    return _say(answer)


def _misused() -> int:
    print(f"Usage: laneway hooks call {'|'.join(AGENTS)} [{' VALUE] ['.join(OPTIONS)} VALUE]", file=sys.stderr)
    # Not 2: that would deny whatever the agent was about to do.
    return 1


def _say(answer: Answer) -> int:
    sys.stdout.write(json.dumps(answer) + "\n")
    why = denial(answer)
    if why:
        sys.stderr.write(why.encode("utf-8", "replace").decode() + "\n")
    return 2 if why else 0


def _home(given: dict[str, str]) -> str:
    named = given.get("--home") or os.environ.get("LANEWAY_HOME") or "~/.laneway"
    return os.path.abspath(os.path.expanduser(named))  # noqa: PTH100, PTH111  pathlib costs an agent a wait


def _event(agent: str, body: bytes) -> str:
    """What the hook was called for; input that cannot be read is taken for a call that waits for a decision."""
    try:
        event = json.loads(body)["hook_event_name"]
    except (ValueError, RecursionError, LookupError, TypeError):
        return BEFORE[agent]
    return event if isinstance(event, str) else BEFORE[agent]


def asked(agent: str, body: bytes, home: str, seconds: float) -> Answer:
    """What the server answers, or NoAnswer."""
    address = os.environ.get("LANEWAY_URL") or _noted_address(home) or USUAL
    secure, host, port, prefix = _parts(address)
    key = _key(home)
    if not key:
        raise NoAnswer("Laneway's hook has no key; run `laneway hooks install` again.")
    head = (
        f"POST {prefix}/hooks/{agent} HTTP/1.0\r\nHost: {host}:{port}\r\nX-API-Key: {key}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    try:
        said = _exchanged(host, port, secure, head.encode("latin-1", "replace") + body, time.monotonic() + seconds)
    except TimeoutError:
        raise NoAnswer(f"Laneway did not answer at {address} within {seconds:g} s.") from None
    except (OSError, ValueError):
        raise NoAnswer(f"Laneway cannot be reached at {address}.") from None
    return _understood(said, address)


def _exchanged(host: str, port: int, secure: bool, said: bytes, until: float) -> bytes:
    with socket.create_connection((host, port), timeout=_left(until)) as plain:
        connection = _secured(plain, host) if secure else plain
        with connection:
            connection.settimeout(_left(until))
            connection.sendall(said)
            heard = b""
            while len(heard) < LONGEST_ANSWER:
                connection.settimeout(_left(until))
                piece = connection.recv(65536)
                if not piece:
                    break
                heard += piece
    return heard


def _secured(plain: socket.socket, host: str) -> socket.socket:
    import ssl

    return ssl.create_default_context().wrap_socket(plain, server_hostname=host)


def _left(until: float) -> float:
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _understood(said: bytes, address: str) -> Answer:
    head, _, body = said.partition(b"\r\n\r\n")
    status = head.split(b" ", 2)[1:2]
    if status in ([b"401"], [b"403"]):
        raise NoAnswer(f"Laneway at {address} does not accept this hook's key; run `laneway hooks install` again.")
    if status != [b"200"]:
        told = status[0].decode("ascii", "replace")[:3] if status else "nothing"
        raise NoAnswer(f"Laneway at {address} answered with {told}.")
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        raise NoAnswer(f"What answers at {address} is not Laneway.")
    return answer


def _parts(address: str) -> tuple[bool, str, int, str]:
    """Whether it is https, the host, the port and the path of an address."""
    scheme, _, rest = address.partition("://")
    host_and_port, _, path = rest.partition("/")
    bracketed, _, after = host_and_port.rpartition("]")
    host, _, port = (bracketed.lstrip("["), "", after.lstrip(":")) if bracketed else host_and_port.partition(":")
    secure = scheme == "https"
    if scheme not in ("http", "https") or not host or (port and not port.isdecimal()) or "@" in host or " " in address:
        raise NoAnswer("LANEWAY_URL is not an address like http://127.0.0.1:8600.")
    return secure, host, int(port) if port else (443 if secure else 80), f"/{path}".rstrip("/")


def _noted_address(home: str) -> str:
    """Where the `laneway up` of this data directory says that it answers."""
    try:
        note = json.loads(_read(f"{home}/up.lock"))
        os.kill(int(note["pid"]), 0)
    except PermissionError:
        pass
    except (OSError, ValueError, LookupError, TypeError):
        return ""
    return str(note["address"])


def _key(home: str) -> str:
    """The hooks' own key, else the owner's."""
    given = os.environ.get("LANEWAY_HOOKS_KEY") or os.environ.get("LANEWAY_KEY")
    key = given or _read(f"{home}/hooks-key") or _read(f"{home}/key")
    return "" if "\r" in key.strip() or "\n" in key.strip() else key.strip()


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:  # noqa: PTH123
            return file.read(100_000)
    except (OSError, UnicodeDecodeError):
        return ""
