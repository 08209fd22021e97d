"""SQL as text: which statements lose data for good, change accounts, or run programs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from laneway.sandbox.shell.rules import Finding

_COMMENT = re.compile(r"--[^\n]*|/\*(?!!).*?\*/|(?m:^\s*#[^\n]*)", re.DOTALL)
_STRING = re.compile(r"'(?:[^'\\]|''|\\.)*'|\$(\w*)\$.*?\$\1\$", re.DOTALL)
_BACKSLASH = re.compile(r"(?m)^\s*\\(!|copy\b.*\bprogram\b|o\s*\|)")
_SHELLS = re.compile(r"(?mi)^\s*\.(shell|system)\b|\bload_extension\s*\(|\bwritefile\s*\(")
_TRIVIAL = re.compile(
    r"(?i)\bwhere\s+\(*\s*(1|true|1\s*=\s*1|0\s*=\s*0|''\s*=\s*''|id\s*=\s*id|\S+\s+is\s+not\s+null|1\s*<\s*2|not\s+false|id\s*>=?\s*0|true\s*=\s*true|2\s*>\s*1)\s*\)*\s*(;|$|returning|or\b)"
)
_KEPT = r"(?!constraint|default|not\b|index|primary|foreign)"
_LOSSES = (
    (re.compile(r"(?i)\s*drop\s+(?!(temp|temporary)\b)\w+"), "drops {0}"),
    (re.compile(r"(?i)\s*truncate\b"), "empties a table"),
    (re.compile(rf"(?is)\s*alter\s+table\b.*\bdrop\s+(column\s+)?{_KEPT}\w+"), "drops a column"),
    (re.compile(r"(?i)\s*flush(all|db)\b"), "empties the store"),
    (re.compile(r"(?is)\s*alter\s+table\b.*\b(delete|update)\b(?!.*\bwhere\b)"), "changes every row"),
    (re.compile(r"(?i)\s*(reset\s+(master|slave)\b|purge\s+(binary|master)\s+logs)"), "deletes the recovery logs"),
)
_ACCOUNTS = re.compile(
    r"(?i)\s*(grant|revoke)\b|\s*(create|alter|drop)\s+(user|role|login)\b|\s*set\s+password\b|\s*alter\s+system\b|"
    r".*\b(from|to)\s+program\b|.*\binto\s+(outfile|dumpfile)\b|.*\bxp_cmdshell\b|.*\b(pg_read_file|lo_export|load_file)\s*\(",
    re.DOTALL,
)
_UNDONE = re.compile(r"(?is)^\s*(begin|start\s+transaction)\b.*\brollback\s*;?\s*$")


def sql_findings(text: str) -> Iterator[Finding]:
    """What running this SQL means."""
    if _BACKSLASH.search(text) or _SHELLS.search(text):
        yield Finding("sql-accounts", "The SQL runs a program.")
    plain = _STRING.sub("''", _COMMENT.sub(" ", text)).replace("/*!", " ").replace("*/", " ")
    if _UNDONE.match(plain) and not re.search(r"(?i)\bcommit\b", plain):
        return
    for statement in plain.split(";"):
        yield from _statement(statement)


def _statement(statement: str) -> Iterator[Finding]:
    body = re.sub(r"(?is)^\s*(explain\s+(analyze|\([^)]*analyze[^)]*\))\s+)", "", statement)
    if re.match(r"(?i)\s*explain\b", body):
        return
    if _ACCOUNTS.match(body):
        yield Finding("sql-accounts", "The SQL changes accounts or rights, reads or writes files, or runs programs.")
    for pattern, what in _LOSSES:
        if pattern.match(body):
            named = " ".join(body.split()[1:3])
            yield Finding("sql-loss", f"The SQL {what.format(named)}.")
    yield from _every_row(body)


def _every_row(body: str) -> Iterator[Finding]:
    deletes = re.search(r"(?i)\bdelete\s+from\b|^\s*delete\b", body)
    updates = re.search(r"(?i)(^|\bthen|\))\s*update\s+(?!set\b)\S+.*?\bset\b", body, re.DOTALL)
    if re.match(r"(?i)\s*(insert|create|comment|select|grant)\b", body) and not deletes:
        return
    if not (deletes or updates):
        return
    if not re.search(r"(?i)\bwhere\b|\blimit\s+\d", body) or _TRIVIAL.search(body):
        yield Finding("sql-loss", "The SQL " + ("deletes" if deletes else "changes") + " every row of a table.")
