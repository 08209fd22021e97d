"""Clients of data stores: SQL shells, Redis, MongoDB and others, and the tools that migrate, drop and restore."""

from __future__ import annotations

import re
from collections.abc import Iterator

from laneway.sandbox.shell.holes import has_hole, shown, without_holes
from laneway.sandbox.shell.invocation import Invocation
from laneway.sandbox.shell.programs.naming import named
from laneway.sandbox.shell.programs.sql import sql_findings
from laneway.sandbox.shell.rules import Finding

_PSQL = (
    "-c --command -f --file -d --dbname -h --host -p --port -U --username -v --set --variable -o --output -P -F -R -L"
)
_MYSQL = "-e --execute -u --user -h --host -P --port -D --database -S --socket --init-command --defaults-file"
_CLICKHOUSE = "-q --query -h --host -u --user --password -d --database --port"
_MONGO = re.compile(
    r"dropDatabase\s*\(|\.drop\s*\(|\.(deleteMany|remove|updateMany|findAndRemove)\s*\(\s*(\{\s*\}|\))|"
    r"dropIndexes|\.(dropUser|createUser|grantRoles\w+|shutdownServer|dropAllUsers\w*)\s*\(|dropCollection"
)
_REDIS_LOSS = {"flushall", "flushdb", "shutdown", "debug", "replicaof", "slaveof", "failover", "swapdb", "restore"}


def _asked(run: Invocation, *texts: str) -> Iterator[Finding]:
    """SQL given as an argument or through a pipe."""
    for text in texts:
        yield from sql_findings(text)
        if has_hole(text) and not without_holes(text).strip():
            yield Finding("opaque-code", f"{run.program} runs SQL that the text does not show.")
    if texts or not run.stdin.given:
        return
    if run.stdin.text is not None:
        yield from sql_findings(run.stdin.text)
    elif run.stdin.file is None:
        yield Finding("opaque-code", f"{run.program} runs SQL that the text does not show.")


def psql(run: Invocation) -> Iterator[Finding]:
    yield from _asked(run, *run.options(_PSQL).of("-c", "--command"))


def mysql(run: Invocation) -> Iterator[Finding]:
    yield from _asked(run, *run.options(_MYSQL).of("-e", "--execute", "--init-command"))


def sqlite(run: Invocation) -> Iterator[Finding]:
    words = run.options("-cmd -init -separator -nullvalue -newline").operands
    if words[:1] == [":memory:"]:
        return
    yield from _asked(run, *run.options("-cmd").of("-cmd"), *words[1:])


def queried(run: Invocation) -> Iterator[Finding]:
    """Clients that take their statement by -q, -e, -c or as their last word."""
    found = run.options(_CLICKHOUSE + " -e --execute -Q -c --command --sql --statement -f")
    words = [word for word in found.operands if " " in word]
    yield from _asked(run, *found.of("-q", "--query", "-e", "--execute", "-Q", "-c", "--command", "--sql"), *words)


def mysqladmin(run: Invocation) -> Iterator[Finding]:
    words = run.options(_MYSQL).operands
    if words[:1] in (["drop"], ["shutdown"], ["password"], ["flush-privileges"]):
        yield Finding("store-loss", f"mysqladmin {words[0]} drops or halts a database.")


def dropdb(run: Invocation) -> Iterator[Finding]:
    yield Finding("store-loss", f"It drops a database or a role ({run}).")


def restore(run: Invocation) -> Iterator[Finding]:
    if run.options().has("-c", "--clean", "--drop", "--create", "-C", "--delete-target-dir"):
        yield Finding("store-loss", "It drops what the data store holds before it restores.")


def redis(run: Invocation) -> Iterator[Finding]:
    found = run.options("-h -p -a -n -u -s --user --pass --sni --pattern -i -r -d -x", until_operand=True)
    words = [word.lower() for word in found.operands]
    lines = [words] if words else [line.lower().split() for line in (run.stdin.text or "").splitlines()]
    if not words and run.stdin.given and run.stdin.text is None and run.stdin.file is None:
        yield Finding("opaque-code", "redis-cli runs commands that the text does not show.")
    for line in lines:
        yield from _redis_line(line)


def _redis_line(line: list[str]) -> Iterator[Finding]:
    if not line:
        return
    text = " ".join(line)
    broad = line[0] in ("del", "unlink") and any(has_hole(word) or "*" in word for word in line[1:])
    scripted = line[0] in ("eval", "evalsha", "fcall") and re.search(r"flush|del|unlink|keys", text)
    configured = line[:2] in (["config", "set"], ["config", "rewrite"], ["acl", "setuser"], ["acl", "deluser"])
    if (
        line[0] in _REDIS_LOSS
        or broad
        or scripted
        or configured
        or line[:2] in (["script", "flush"], ["cluster", "reset"])
    ):
        yield Finding("store-loss", f"The Redis command {shown(' '.join(line[:2]))} loses data or changes the server.")


def mongo(run: Invocation) -> Iterator[Finding]:
    scripts = run.options("--eval --host --port -u -p --username --password").of("--eval")
    if run.stdin.given and run.stdin.text is not None:
        scripts.append(run.stdin.text)
    for script in scripts:
        if _MONGO.search(script):
            yield Finding("store-loss", "The MongoDB script drops or deletes data, or changes accounts.")


_LOSING_TASK = re.compile(
    r"(?i)(db|database|migrate|schema|cache|queue|data|es|search|store|storage|index|tenant)s?[:.](drop|reset|wipe|fresh|destroy|purge|clear_all|nuke|truncate|flush|rollback|setup:force)(:\w+)?"
    r"|(drop|reset|wipe|destroy|nuke|purge|truncate|flush)[-_:](all[-_])?(db|database|data|prod|production|schema|tables?|storage|volumes?|users?|everything)"
    r"|(db|database|schema|data|tables?|prod|env|infra|stack|cluster|volumes?)[-_](drop|reset|wipe|destroy|nuke|purge|truncate|flush)"
    r"|nuke|destroy|teardown|tear-down|wipe|purge"
)
"""Names of tasks that lose data, whatever runs them: `rails db:drop`, `make reset-db`, `artisan migrate:fresh`."""


def task(run: Invocation) -> Iterator[Finding]:
    """Programs that run a named task of the project."""
    if run.options().has("-n", "--dry-run", "--just-print"):
        return
    for word in run.options("-C -f --file --directory -j -e --environment").operands:
        if _LOSING_TASK.fullmatch(word):
            yield Finding("store-loss", f"By its name the task {shown(word)} loses data for good.")


def manage(run: Invocation) -> Iterator[Finding]:
    """Subcommands of migration tools: prisma, alembic, knex, sequelize, manage.py and their like."""
    words = [word for word in run.args if not word.startswith("-")]
    line = " ".join(words)
    if re.search(
        r"\b(migrate reset|db reset|reset_db|db (drop|wipe)|database drop|ef database drop|schema:drop|"
        r"flush|downgrade base|migrate:rollback --all|db:drop(:all)?|db:migrate:undo:all|schema drop|destroy)\b", line
    ) and "sqlflush" not in line:  # fmt: skip
        yield Finding("store-loss", f"It resets or drops a database ({run}).")
    elif any(flag in run.args for flag in ("--force-reset", "--accept-data-loss", "--all-or-nothing-drop")):
        yield Finding("store-loss", "It resets a database whatever it holds.")
    else:
        yield from task(run)


def queue(run: Invocation) -> Iterator[Finding]:
    """Administration of queues, key stores and search engines."""
    line = " ".join(run.args)
    if re.search(
        r"(?i)\b(purge\w*|delete\w*|reset|force_reset|del|destroy|remove\w*|drop\w*|unseal|stop_app|rmr|deleteall)\b|--delete\b",
        line,
    ):
        yield Finding("store-loss", f"It removes data or settings ({run}).")


DATABASES = named(
    "databases", psql, mysql, sqlite, queried, mysqladmin, dropdb, restore, redis, mongo, manage, task, queue
)
