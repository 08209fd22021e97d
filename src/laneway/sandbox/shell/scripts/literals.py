"""Inline scripts in other languages: their calls and string literals read for what they run, remove, write and send."""

from __future__ import annotations

import re
from collections.abc import Iterator

from laneway.sandbox.shell.holes import ansi_c, has_hole, hole, without_holes
from laneway.sandbox.shell.programs.hosts import METADATA, is_foreign
from laneway.sandbox.shell.rules import Finding
from laneway.sandbox.shell.scripts.effects import Argument, Effect, Read, Remove, Run, Shell, Write

_STRING = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`)"""
_RUNS = re.compile(
    r"(?<![\w$])(system|exec|execSync|execFileSync|execFile|spawn|spawnSync|shell_exec|passthru|popen|popen3|capture2e?|capture3|proc_open|"
    r"execute|pcntl_exec|do shell script|shell-command(?:-to-string)?|call-process|run|Command)\b\s*\(?\s*(.{0,400})",
    re.DOTALL,
)
_OFTEN_HARMLESS = {"run", "execute", "exec", "Command", "spawn"}
"""Names that many libraries use for something else; they count only with literals, or where shells are named."""
_WITH_WORDS = {
    "spawn", "spawnSync", "execFile", "execFileSync", "system", "exec", "popen", "capture2", "capture3",
    "call-process", "run",
}  # fmt: skip
"""Those that take a program and its words one by one."""
_REMOVES = re.compile(
    r"\b(unlinkSync|unlink|rmSync|rmdirSync|rmdir|removeSync|rmtree|remove_tree|rm_rf|rm_r|rm_f|remove_entry_secure|remove_dir|emptyDirSync|"
    r"File\.delete|File\.unlink|Dir\.rmdir|FileUtils\.rm\w*|FileUtils\.remove\w*|os\.remove|rimraf(?:\.sync|Sync)?|removeSync|Deno\.remove(?:Sync)?|"
    r"fs\.rm|fsp\.rm|promises\.rm|delete-directory|delete-file|rmall|file\.remove|file delete)\b\s*\(?\s*(.{0,200})",
    re.DOTALL,
)
_WRITES = re.compile(
    r"\b(writeFileSync|writeFile|appendFileSync|appendFile|file_put_contents|File\.write|IO\.write|createWriteStream|truncateSync|truncate|"
    r"Deno\.writeTextFile(?:Sync)?|Deno\.writeFile|outputFileSync|writeJsonSync|Bun\.write)\b\s*\(?\s*(.{0,200})",
    re.DOTALL,
)
_READS = re.compile(
    r"\b(readFileSync|readFile|file_get_contents|File\.read|File\.open|IO\.read|IO\.readlines|slurp|readfile|fopen|open|io\.open|createReadStream|"
    r"Deno\.readTextFile(?:Sync)?|readdirSync|file)\b\s*\(?\s*(.{0,200})",
    re.DOTALL,
)
_OPEN_WRITE = re.compile(
    rf"\b(?:open|fopen|File\.open|io\.open|File\.new)\b\s*\(?[^;'\"]*?({_STRING})\s*,\s*({_STRING})(?:\s*,\s*({_STRING}))?"
)
_BACKTICKS = re.compile(r"`((?:[^`\\]|\\.)*)`|%x[{(\[]([^})\]]*)[})\]]|qx[/{(|!]([^/})|!]*)[/})|!]")
_DECODES = re.compile(
    r"(?i)atob|base64|fromCharCode|\bunpack\b|\bpack\s*\(|decode64|hex2bin|gzinflate|gzuncompress|str_rot13|Buffer\.from|chr\(|Marshal\.load|unserialize"
)
_EVALUATES = re.compile(
    r"(?<![\w.])(eval|instance_eval|class_eval|assert|new Function|Function|loadstring|load|create_function|"
    r"vm\.run\w*|setTimeout)\b\s*\(?\s*([^)]{0,200})"
)
_SOCKETS = re.compile(
    r"TCPSocket|require\(.(?:node:)?net.\)|IO::Socket|fsockopen|net\.connect|net\.Socket|createConnection|Socket\.tcp|/inet/tcp|socket\.tcp|pfsockopen|SOCK_STREAM|Net\.createConnection|stream_socket_client"
)
_SHELLS = re.compile(r"/bin/(ba|da|z|a)?sh|cmd\.exe|\bsh\b|powershell|exec|spawn|dup2|STDIN|proc_open|\|&|getline")
_SENDS = re.compile(
    r"(?i)\.post\b|method\W{1,6}(post|put|patch)|Net::HTTP\.post|https?\.request|curl_setopt|LWP|\.put\(|sendBeacon|axios|post_form|fetch\s*\([^)]*body|got\.post|\.write\("
)
_FETCHES = re.compile(
    r"(?i)\b(fetch|https?\.get|open-uri|URI\.open|Net::HTTP\.get|file_get_contents\s*\(\s*.https?:|LWP::Simple|curl_exec|axios\.get|readURL|DownloadString|Invoke-WebRequest|iwr|wget|curl)\b"
)
_POWERSHELL = re.compile(
    r"(?i)\b(Remove-Item|ri|rm|rd|rmdir|del|erase|Format-Volume|Clear-(Content|Disk|RecycleBin|EventLog)|Stop-(Computer|Process|Service)|Restart-(Computer|Service)|"
    r"iex|Invoke-Expression|DownloadString|Set-ExecutionPolicy|Set-Content|Set-Service|"
    r"New-LocalUser|Add-LocalGroupMember|Set-MpPreference|Start-Process|reg|net user|"
    r"format|diskpart|shutdown|bcdedit|vssadmin|cipher|schtasks|takeown|icacls|sc)\b"
)
_CONCATENATED = re.compile(r"""(['"])([^'"`\\\n]*)\1\s*(?:\+|\.\.?)\s*(['"])([^'"`\\\n]*)\3""")
_HOME = re.compile(
    r"""[#$]?\{?\b(?:process\.env\.HOME|(?:require\(['"](?:node:)?os['"]\)|os)\.homedir\(\)|Dir\.home|Deno\.env\.get\(['"]HOME['"]\)
    |Bun\.env\.HOME|ENV(?:\.fetch)?[\[(]['"]HOME['"][\])]|(?:os\.)?getenv\(['"]HOME['"]\))\}?
    |\$ENV\{['"]?HOME['"]?\}|\$_(?:SERVER|ENV)\[['"]?HOME['"]?\]|ENVIRON\["HOME"\]""",
    re.VERBOSE,
)
"""The home folder as languages spell it."""
_JOINED = re.compile(rf"\b(?:join|resolve|catfile|expand_path)\s*\(\s*({_STRING}(?:\s*,\s*{_STRING})*)\s*\)")
_LINKS = re.compile(r"\b(symlinkSync|symlink|ln_sf?|linkSync|link|ln)\b\s*\(?\s*(.{0,400})", re.DOTALL)
_ENTERS = re.compile(r"\bchdir\b\s*\(?\s*(.{0,200})", re.DOTALL)
_ONLY_NAMED = re.compile(
    r"(?:\b(?:print|printf|puts|say|echo|p|log|warn|error|exists|existsSync|mkdir|mkdirSync|readdir|readdirSync|exist\?|file\?|is_file|file_exists|stat|statSync|"
    r"join|chmod|chmodSync)|-[efdrs])\s*\(?\s*$"
)
"""What stands before a text that is only shown or looked up as a name."""


def literal_effects(language: str, text: str) -> Iterator[Effect]:
    """What a script does, as far as its calls and literals tell."""
    if text.strip() and not without_holes(text).strip():
        yield Finding("opaque-code", "It runs a script that the text does not show.")
        return
    code = _put_together(_without_comments(language, text))
    for literal in re.finditer(_STRING, code):
        if not _ONLY_NAMED.search(code, max(0, literal.start() - 40), literal.start()):
            yield Argument(_plain(literal[0]))
    if language in ("powershell", "cmd"):
        if _POWERSHELL.search(code):
            yield Finding("inline-script", "The script removes, stops or changes things of the system.")
        return
    if language == "awk":
        yield from _awk(code)
        return
    if language in ("vim", "gdb", "tcl"):
        yield from _lines(language, code)
        return
    yield from _calls(language, code)
    yield from _whole(language, code)


def _put_together(code: str) -> str:
    """Code with its home folder and the strings it joins written out."""
    code = _HOME.sub(lambda found: "~" if code[found.end() : found.end() + 1] == "/" else '"~"', code)
    for _ in range(8):
        code, joined = _CONCATENATED.subn(r"\1\2\4\1", code)
        if not joined:
            break
    return _JOINED.sub(lambda found: '"' + "/".join(one[1:-1] for one in re.findall(_STRING, found[1])) + '"', code)


def _without_comments(language: str, text: str) -> str:
    if language in ("perl", "ruby", "php", "r", "julia", "elixir"):
        return re.sub(r"(?m)(^|\s)#(?![{!]).*$", r"\1", text)
    if language in ("javascript", "groovy", "scala", "java"):
        return re.sub(r"(?m)(^|\s)//.*$", r"\1", text)
    return text


def _strings(text: str) -> list[str]:
    """The literals at the start of an argument list, up to what is no literal."""
    found: list[str] = []
    rest = text.lstrip("( \n")
    while True:
        literal = re.match(rf"\s*\[?\s*({_STRING})\s*(,|\]|\)|;|$|\s)", rest, re.DOTALL)
        if literal is None:
            return found
        found.append(_plain(literal[1]))
        rest = rest[literal.end(1) :].lstrip()
        if not rest.startswith((",", "[")):
            return found
        rest = rest.lstrip(", ")


def _plain(literal: str) -> str:
    inner = literal[1:-1]
    inner = re.sub(r"\$\{[^}]*\}|#\{[^}]*\}", hole("v_x"), inner)
    return ansi_c(inner) if "\\" in inner and literal[0] != "'" else inner


def _calls(language: str, code: str) -> Iterator[Effect]:
    if language in ("perl", "ruby", "php", "julia"):
        for groups in _BACKTICKS.findall(code):
            yield Shell(next((part for part in groups if part), ""))
    for name, rest in _RUNS.findall(code):
        words = _strings(rest)
        if not words:
            if name in _OFTEN_HARMLESS and "child_process" not in code:
                continue
            yield Finding("opaque-code", f"The script calls {name} with what the text does not show.")
        elif len(words) == 1:
            yield Shell(words[0])
        elif name in _WITH_WORDS:
            yield Run(tuple(words))
        else:
            yield Shell(words[0])
    yield from _paths(code)


def _paths(code: str) -> Iterator[Effect]:
    for rest in _ENTERS.findall(code):
        yield from [Run(("cd", word)) for word in _strings(rest)[:1]]
    for name, rest in _LINKS.findall(code):
        words = _strings(rest)[:2]
        if len(words) == 2:
            yield Run(("ln", *(["-s"] if "s" in name.removesuffix("Sync") else []), "--", *words))
    for _, rest in _REMOVES.findall(code):
        words = _strings(rest)
        yield from [Remove(word) for word in words] if words else [Remove(hole("v_x"))]
    for name, rest in _WRITES.findall(code):
        words = _strings(rest)
        if words:
            yield Write(words[0], empties=name.startswith("truncate") or words[1:2] == [""])
    for first, second, third in _OPEN_WRITE.findall(code):
        mode, path = (
            (_plain(second), _plain(first)) if not re.match(r"['\"][<>+]", first) else (_plain(first), _plain(second))
        )
        if third and re.match(r"['\"]\+?>", second):
            mode, path = _plain(second), _plain(third)
        if re.match(r"\+?>|[wax]", mode):
            yield Write(path)
        elif "|" in mode or mode.startswith("-|"):
            yield Shell(path)
        else:
            yield Read(path)
    for _, rest in _READS.findall(code):
        for word in _strings(rest)[:1]:
            yield Shell(word.strip("| ")) if word.endswith("|") or word.startswith("|") else Read(word.lstrip("<>+ "))


def _whole(language: str, code: str) -> Iterator[Effect]:
    if _SOCKETS.search(code) and _SHELLS.search(code):
        yield Finding("reverse-shell", "The script joins a shell to another host.")
    if re.search(
        r"\bfork\b\s*(\(\s*\))?\s*while|while\s*\(?\s*(1|true|fork)?\s*\)?\s*\{?\s*fork|loop\s*\{\s*fork|fork\s*\{?.*\bfork\b|for\s*\(\s*;\s*;\s*\)\s*\{?[^}]*(fork|spawn)",
        code,
    ):
        yield Finding("exhaust", "The script makes processes without end.")
    if re.search(r"\b(?:import|from|importScripts|require)\s*\(?\s*['\"`]https?:", code):
        yield Finding("network-code", "The script loads code from the network.")
    for name, rest in _EVALUATES.findall(code):
        if name in ("setTimeout", "load", "assert", "Function") and not _DECODES.search(rest):
            continue
        if _FETCHES.search(rest):
            yield Finding("network-code", "The script runs code from the network.")
        elif _DECODES.search(rest) or not re.match(r"\s*['\"{]", rest):
            yield Finding("opaque-code", "The script runs code that the text does not show.")
        else:
            inner = _strings(rest)
            for text in inner[:1]:
                yield from literal_effects(language, text)
    if re.search(r"process\.kill\(\s*-1|kill\s*\(?\s*['\"]?(KILL|9|TERM)['\"]?\s*,\s*-1|posix_kill\(\s*-1", code):
        yield Finding("kill", "The script ends every process.")
    yield from _sending(code)


def _sending(code: str) -> Iterator[Effect]:
    urls = re.findall(r"https?://[^\s'\"`)]+", code)
    for url in urls:
        if METADATA.search(url):
            yield Finding("metadata", "The script asks for the credentials of this machine.")
    sends = _SENDS.search(code) and any(is_foreign(url) for url in urls)
    reads = re.search(r"readFile|file_get_contents|File\.read|IO\.read|slurp|execSync|open\s*\(", code)
    if sends and re.search(r"process\.env\b(?!\.)|\bENV\b(?!\[)|%ENV|\$_ENV|getenv\(\s*\)", code):
        yield Finding("send-secret", "The script sends the environment to another host.")
    elif sends and reads:
        yield Finding("send-file", "The script sends local files to another host.")


def _awk(code: str) -> Iterator[Effect]:
    for literal in re.findall(rf"\bsystem\s*\(\s*({_STRING})", code):
        yield Shell(_plain(literal))
    if re.search(r"\bsystem\s*\(\s*[^\"'\s)]", code):
        yield Finding("opaque-code", "The awk script runs commands made of its input.")
    for literal in re.findall(rf"({_STRING})\s*\|\s*&?\s*getline|\|\s*&?\s*({_STRING})", code):
        for part in literal:
            if part:
                yield Shell(_plain(part))
    for literal in re.findall(rf"(?<![<>=!])>{{1,2}}\s*({_STRING})", code):
        yield Write(_plain(literal))
    if "/inet/" in code:
        yield Finding("reverse-shell", "The awk script opens a connection to another host.")


def _lines(language: str, code: str) -> Iterator[Effect]:
    """Editors and debuggers: `!command` runs, `w file` writes; Tcl runs by exec, spawn and send."""
    yield from map(Argument, re.findall(r"(?<![\w.])[/~][^\s\[\];|'\"]+", code))
    if language == "tcl":
        for command in re.findall(r"(?:\bexec|\bspawn|\bsend\b[^\"]*\")\s*(.+?)(?:$|[\n;\"\]])", code):
            yield Shell(command)
        return
    for command in re.findall(r"(?:^|[\n|:\s%])!(.+)|\bshell\s+(.+)|\bsystem\(['\"](.*?)['\"]\)", code):
        yield Shell(next(part for part in command if part))
    for path in re.findall(r"(?:^|[\n|:\s])(?:w|wq|write|saveas)!?\s+([/~.\w][^\n|]*)", code):
        yield Write(path.strip())
    if re.search(r"\b(py3?|python3?|lua|perl|ruby)\b.*\b(os\.|system|execute)", code) or (
        has_hole(code) and not without_holes(code).strip()
    ):
        yield Finding("inline-script", "The editor is told to run a script.")
