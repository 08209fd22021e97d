"""Orders: one table of shapes, the tool call that each asks for, and what is said when it is done."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic_ai.tools import ToolDefinition

from laneway.language.refusal import MODEL_HINT, NotUnderstood
from laneway.language.times import is_time
from laneway.llm.offline.kinds import (
    ADVERBS,
    DESCRIPTIONS,
    SERVICES,
    is_absolute,
    is_command,
    is_file,
    is_program,
    shell_path,
)
from laneway.llm.offline.outcomes import Outcome, block, lines_of
from laneway.llm.offline.shapes import Match, Shape

# What tools may call the parameter that an order names first.
_NAMES: Final[dict[str, tuple[str, ...]]] = {
    "command": ("command", "cmd", "script"), "path": ("path", "file", "file_path", "source"), "title": ("title",),
    "to": ("to", "destination", "target"), "content": ("content", "contents", "text"), "pattern": ("pattern", "query"),
    "text": ("text", "content", "note", "message", "fact"), "when": ("when", "at", "time"), "url": ("url", "address"),
}  # fmt: skip
MOST_LINES: Final = 1000
WHERE_IT_ENDS: Final = "I cannot tell where the command ends. Put it in backticks, like this: run `ls -la /tmp`."
SHALL_I: Final = "I run a command only when told to. If you want that, say: run, and then the command in backticks."
WHICH_HALF: Final = "In the morning or in the afternoon? Say the time like 05:00 or 17:00."
FILE_OR_FOLDER: Final = "Is that a file or a folder? Say: read FILE, or: list the files in FOLDER."
ONE_MOMENT: Final = "I need one moment and a text, like this: remind me at 6pm to call Ann."

Telling = Callable[[Outcome], str]


@dataclass(frozen=True)
class Order:
    """A tool call that was asked for."""

    tool: str
    arguments: Mapping[str, Any]
    about: str
    """What it does, after "I could not": "delete `notes.txt`"."""
    tell: Telling
    """What to say when it succeeded."""
    is_free: bool = False
    """True if it ends with free text, which may swallow what was meant as the next order."""
    tells_all: bool = False
    """True if `tell` has words for failures too, since part of it may have succeeded."""
    is_silent: Callable[[Outcome], bool] = lambda _: False
    """True of an outcome that need not be told where silence is allowed."""


@dataclass(frozen=True)
class Ask:
    """A question back: words that order something but leave open what exactly."""

    text: str


class Offer:
    """The tools on offer, which make calls of themselves."""

    def __init__(self, tools: Mapping[str, ToolDefinition]) -> None:
        self.tools = tools

    def order(self, tool: str, about: str, tell: str | Telling, given: Mapping[str, Any], **more: Any) -> list[Order]:
        """The order; NotUnderstood if the tool is not offered or does not take these arguments."""
        known = self.tools.get(tool)
        fitted = None if known is None else _fit(known.parameters_json_schema, given)
        if fitted is None:
            raise NotUnderstood(f"I have no tool here to {about}.", MODEL_HINT)
        return [Order(tool, fitted, about, (lambda _: tell) if isinstance(tell, str) else tell, **more)]

    def bash(self, command: str, about: str = "", done: str = "") -> list[Order]:
        """The order to run this command; the last two say what it was for, where that is not the command itself."""
        first, *rest = command.splitlines() or [""]
        shown = f"`{first}`" + (" …" if rest else "")

        def tell(outcome: Outcome) -> str:
            head = done or (f"{shown}:" if outcome.output else f"{shown} ended well and printed nothing.")
            return f"{head}\n{block(outcome.output)}" if outcome.output else head

        return self.order("bash", about or f"run {shown}", tell, {"command": command})


def _fit(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, Any] | None:
    """The arguments under the names the schema has for them; None if one has no place or a required one is missing."""
    known: Mapping[str, Any] = schema.get("properties", {})
    fitted: dict[str, Any] = {}
    for name, value in arguments.items():
        place = next((one for one in _NAMES.get(name, (name,)) if one in known and one not in fitted), None)
        if place is None:
            return None
        fitted[place] = value
    return fitted if set(schema.get("required", ())) <= set(fitted) else None


Understood = Sequence[Order] | Ask | None
Builder = Callable[[Match, Offer], Understood]


@dataclass(frozen=True)
class Row:
    """A shape and what it orders; None means that an argument is none."""

    shape: Shape
    build: Builder
    changes: bool = False
    """True if it changes something, so that a question mark makes it no order."""

    def read(self, match: Match, offer: Offer) -> Understood:
        """What is ordered, unless a quotation that stands for a file cannot be the name of one."""
        parts = [part for place in ("path", "to") if f"{place}__0" not in match.places for part in match.values(place)]
        named = all(part.quoted is None or is_file(part.value) for part in parts)
        # "Rename a.txt to my file.txt" may mean a name of two words.
        named &= (
            re.search(r"\s(?:my|our|an?|this|that)\s+$", match.text.marked[: match.places.get("to", (0, 0))[0]]) is None
        )
        return self.build(match, offer) if named else None


def rows(build: Builder, *written: str, changes: bool = False) -> tuple[Row, ...]:
    """A row for each of these shapes."""
    return tuple(Row(Shape(one), build, changes) for one in written)


def _shell(command: str, about: str = "", done: str = "") -> Builder:
    """A builder of a command whose places are filled with what the shape found, paths safely quoted."""

    def build(match: Match, offer: Offer) -> list[Order] | None:
        plain = {"count": "10"} | {place: match.value(place) for place in match.places}
        quotes = {"path": shell_path, "to": shell_path, "content": shlex.quote}
        quoted = {place: quotes.get(place, str)(text) for place, text in plain.items()}
        if not 1 <= int(plain["count"]) <= MOST_LINES:
            return None
        return offer.bash(command.format(**quoted), about.format(**plain), done.format(**plain))

    return build


def _call(tool: str, about: str, done: str, nothing: str = "", *, is_free: bool = False) -> Builder:
    """A builder of a call that takes what the shape found as it is; `nothing` is said if it finds nothing."""

    def build(match: Match, offer: Offer) -> list[Order]:
        found = {place: match.value(place) for place in match.places if "__" not in place}
        tell = _show(done.format(**found), nothing.format(**found)) if nothing else done.format(**found)
        free = is_free and not any(match.part(place).quoted for place in found)
        return offer.order(tool, about.format(**found), tell, found, is_free=free)

    return build


def _show(first: str, nothing: str) -> Telling:
    def tell(outcome: Outcome) -> str:
        lines = outcome.stdout.splitlines() or lines_of(outcome.result)
        return f"{first}:\n{block(chr(10).join(lines))}" if lines else nothing

    return tell


def _run_quoted(match: Match, offer: Offer) -> list[Order]:
    # Some people copy the prompt along.
    commands = [re.sub(r"\A\$ ", "", part.value.strip()) for part in match.values("commands")]
    return [order for command in commands if command for order in offer.bash(command)]


def _run_plain(match: Match, offer: Offer) -> Understood:
    command = match.part("command")
    tokens = (re.sub(r"\x01+\x00*\x02+", "'", command.marked) if "\1" in command.marked else command.raw).split()
    if is_command(tokens) and tokens[-1].lower() not in ADVERBS:
        return offer.bash(command.raw)
    return Ask(WHERE_IT_ENDS) if is_program(tokens[0]) or re.match(r"[\w ]*:", match.text.marked) else None


def _offer_to_run(match: Match, _: Offer) -> Understood:
    tokens = match.value("commands").split() or [""]
    is_one = is_command(tokens) if match.part("commands").quoted is None else is_program(tokens[0])
    return Ask(SHALL_I) if is_one else None


def _control(verb: str) -> Builder:
    def build(match: Match, offer: Offer) -> Understood:
        names = [part.value for part in match.values("names")]
        if not all(re.fullmatch(r"[A-Za-z0-9][\w@.:-]{0,80}", name) for name in names):
            return None
        commands = [f"systemctl {verb} {name.lower() if name.lower() in SERVICES else name}" for name in names]
        return [order for command in commands for order in offer.bash(command, done=f"Done: `{command}`.")]

    return build


def _delete(match: Match, offer: Offer) -> Understood:
    orders: list[Order] = []
    for path in (part.value for part in match.values("path")):
        about, done = f"delete `{path}`", f"Deleted `{path}`."
        if path.endswith("/"):
            return None
        if is_absolute(path):
            orders += offer.bash(f"rm {shell_path(path)}", about, done)
        else:
            orders += offer.order("delete_file", about, done, {"path": path})
    return orders


def _delete_folder(match: Match, offer: Offer) -> Understood:
    # "Delete the folder now" names none.
    if match.value("path").isalpha() and not ("path__0" in match.places or match.part("path").quoted):
        return None
    return _shell("rm -r {path}", "delete the folder `{path}`", "Deleted the folder `{path}`.")(match, offer)


def _move(match: Match, offer: Offer) -> list[Order]:
    path, to = match.value("path"), match.value("to") if "to" in match.places else f"{match.value('folder')}/"
    if to.endswith("/"):
        to = f"{to.rstrip('/')}/{path.rstrip('/').rsplit('/', 1)[-1]}"
    about, done = f"move `{path}` to `{to}`", f"Moved `{path}` to `{to}`."
    if is_absolute(path) or is_absolute(to):
        return offer.bash(f"mv {shell_path(path)} {shell_path(to)}", about, done)
    return offer.order("move_file", about, done, {"path": path, "to": to})


def _read(match: Match, offer: Offer) -> Understood:
    path = match.value("path")

    def tell(outcome: Outcome) -> str:
        content = outcome.result if isinstance(outcome.result, str) else str(outcome.fields.get("text", ""))
        return f"{outcome.fields.get('path', path)}:\n\n{content if content.strip() else '(The file is empty.)'}"

    if is_absolute(path) and "." not in path.rpartition("/")[2] and not match.text.marked.startswith(("cat", "read")):
        return Ask(FILE_OR_FOLDER)
    return None if path.endswith("/") else offer.order("read_file", f"read {path}", tell, {"path": path})


def _write(match: Match, offer: Offer) -> Understood:
    given, path = match.part("content"), match.value("path")
    ends = "\n" if given.quoted is not None and given.marked[0] == "\3" and not given.value.endswith("\n") else ""
    arguments = {"path": path, "content": f"{given.value}{ends}"}
    count = len(arguments["content"])
    done = f"Wrote `{path}` ({count} character{'' if count == 1 else 's'})."
    return offer.order("write_file", f"write `{path}`", done, arguments, is_free=given.quoted is None)


def _edit(match: Match, offer: Offer) -> Understood:
    old, new, path = match.part("old"), match.part("new"), match.value("path")
    if any(part.quoted is None and part.marked in DESCRIPTIONS for part in (old, new)):
        return None
    everywhere = {"all": True} if re.search(r"\b(?:all|every|everywhere)\b", match.text.marked) else {}
    arguments = {"path": path, "old": old.value, "new": new.value, **everywhere}
    done = f"Replaced `{old.value}` with `{new.value}` in `{path}`."
    return offer.order("edit_file", f"replace the text in `{path}`", done, arguments)


def _list(match: Match, offer: Offer) -> Understood:
    if "path" not in match.places:
        return _call("list_files", "list the files", "Files here", "No files here.")(match, offer)
    if is_absolute(match.value("path")):
        return _shell("ls -la {path}")(match, offer)
    return _call("list_files", "list `{path}`", "In `{path}`", "`{path}` is empty.")(match, offer)


def _glob(match: Match, offer: Offer) -> Understood:
    pattern = f"*{match.value('ending')}" if "ending" in match.places else match.value("pattern")
    if "path" in match.places:
        pattern = f"{match.value('path').rstrip('/')}/**/{pattern}"
    if is_absolute(pattern):
        return None
    tell = _show(f"Files that match `{pattern}`", f"No file matches `{pattern}`.")
    sought = pattern if "/" in pattern else f"**/{pattern}"
    return offer.order("glob", f"look for `{pattern}`", tell, {"pattern": sought})


def _grep(match: Match, offer: Offer) -> Understood:
    text, tool = match.value("pattern"), offer.tools.get("grep")
    where = {"path": match.value("path")} if "path" in match.places else {}
    if is_absolute(where.get("path", "")) or (match.part("pattern").quoted is None and text.lower() in DESCRIPTIONS):
        return None
    # Word for word, also where the tool takes a regular expression.
    takes_expressions = tool is not None and "regular expression" in (tool.description or "").lower()
    sought = re.sub(r"([.^$*+?{}\[\]\\|()])", r"\\\1", text) if takes_expressions else text
    tell = _show(f"`{text}` was found", f"`{text}` was not found.")
    return offer.order("grep", f"search for `{text}`", tell, {"pattern": sought, **where})


def _fetch(match: Match, offer: Offer) -> Understood:
    url = match.value("url")
    if re.fullmatch(r"https?://[^\s/]\S*", url, re.I) is None:
        return None

    def tell(outcome: Outcome) -> str:
        fields = outcome.fields
        status = next((f" with status {fields[one]}" for one in ("status_code", "status") if one in fields), "")
        text = next((str(fields[one]) for one in ("text", "body", "content", "json") if fields.get(one)), "")
        text = text or outcome.stdout or (outcome.result if isinstance(outcome.result, str) else "")
        return f"{url} answered{status}:\n{block(text)}" if text.strip() else f"{url} answered{status} and no text."

    return offer.order("http_request", f"fetch {url}", tell, {"url": url})


# "At 5" is said of the afternoon by most and of the morning by some.
_DOUBTFUL: Final = re.compile(r"(?:^|\bat |day |tomorrow )[1-6](?=$| (?:on|today|tomorrow|\w+day)\b)")
_CONNECTOR: Final = re.compile(r"(?:\s*,\s*|\s+)(?:to|that|about|of)\s+|\s*[,:]\s+")
_BEGINS_TIME: Final = re.compile(
    r"(?<!\S)(?:at|in|on|next|this|today|tonight|tomorrow|noon|midnight|the day after|(?:mon|tues|wednes|thurs|fri|"
    r"satur|sun)day|\d{4}-\d\d-\d\d|\d{1,2}(?::\d\d| ?[ap]\.?m))\b"
)
_OTHER_TIME: Final = re.compile(r"\b(?:every|each|daily|weekly)\b|\b(?:by|before|until|till|after|around|since|from)$")


_CLAUSE: Final = re.compile(
    r"\b(?:that|which|who|when|where|we|is|are|was|were|starts?|leaves?|begins?|ends?|opens?|closes?|arrives?|departs?)\b"
)


def _names_time(text: str) -> bool:
    """Whether a moment is said in this text, so that there would be two."""
    words = [text[found.start() :].split() for found in _BEGINS_TIME.finditer(text)]
    return any(is_time(" ".join(one[:count]).strip(",.")) for one in words for count in range(1, 5))


def _remind(match: Match, offer: Offer) -> Understood:
    """The reminder of “TIME to TEXT”, “to TEXT TIME” or “TIME remind me to TEXT”."""
    rest = match.part("rest")
    rest = rest.cut(4) if rest.marked.startswith("for ") else rest
    pairs = [(match.part("when"), match.part("about"))]
    pairs += [(rest.cut(0, found.start()), rest.cut(found.end())) for found in _CONNECTOR.finditer(rest.marked)]
    opening = re.match(r"(?:to|that|about|of)\s+|:\s*", rest.marked)
    if opening:
        last = rest.cut(opening.end())
        starts = [found.start() for found in _BEGINS_TIME.finditer(last.marked)]
        pairs += [(last.cut(at), last.cut(0, len(last.marked[:at].rstrip(" ,")))) for at in starts]
    when, about = next((pair for pair in pairs if pair[0].raw and is_time(pair[0].marked)), (rest, None))
    is_last = about is not None and about.raw != "" and when.raw != rest.raw[: len(when.raw)]
    if about is not None and (_names_time(about.marked) or (opening and is_last and _CLAUSE.search(about.marked))):
        return Ask(ONE_MOMENT)
    if about is None or not about.raw or (opening and _OTHER_TIME.search(about.marked)):
        return Ask(ONE_MOMENT) if opening or is_time(rest.marked) else None
    if _DOUBTFUL.search(when.marked) and "tonight" not in when.marked:
        return Ask(WHICH_HALF)
    said, text = " ".join(when.raw.split()), about.value

    def tell(outcome: Outcome) -> str:
        return f"I will remind you {outcome.fields.get('due') or said}: {text}"

    return offer.order("remind", "set the reminder", tell, {"text": text, "when": said}, is_free=True)


_AND_TELL: Final = (
    "[and|then [then] tell|show|give|send [me|us] [back] (the|its [full|whole] output|result|results"
    " | what it says|prints|shows|outputs|returns)]"
)
_IN_SHELL: Final = "[in the|a shell|terminal|console|sandbox]"
_ME: Final = "show|list|give|print|display [me|us]"
_BIG: Final = "largest|biggest"
_LARGEST: Final = "find {path} -type f -printf '%s %p\\n' | sort -rn | head -n {count}"
_WITH: Final = "(with|containing|saying [the|this [following] content|contents|text] | that says|reads|contains)"
_EVERY: Final = "[all|every [occurrences|occurrence of]]"
_HERE: Final = "[here | in the|this workspace | in|of|under <path:place>]"
_ALL_FILES: Final = "(the [whole] workspace | [all] [the] files | here)"
_WITHIN: Final = f"in|inside|through|under ({_ALL_FILES} | <path:place>)"
_TASK: Final = "task|todo|to-do"
_DELETES: Final = "(delete|remove|erase|trash|rm | get rid of)"
_PAGE: Final = "[the page|url|link|address|site [at|on]]"

READING: Final = (
    *rows(_shell("systemctl --failed --no-pager"), "show|list [me] [the|all] failed [systemd] services|units",
          "which|what [systemd] services|units (failed | have failed)"),
    *rows(_shell("tail -n {count} {path}"), "tail <path:file>",
          "show|list|give|print|tail|get [me|us] [the] last|latest <count:number> lines of|from|in <path:file>"),
    *rows(_shell(_LARGEST), f"[{_ME}] [the] <count:number> {_BIG} files in|under|of <path:place>",
          f"[{_ME} | (what|which are | what's)] [the] {_BIG} [<count:number>] files in|under|of <path:place>",
          f"(what|which are | what's) the <count:number> {_BIG} files in|under|of <path:place>"),
    *rows(_shell("du -sh -- {path}"), "how big|large is <path:place>", "(what is | what's) the size of <path:place>",
          "how much [disk] space does <path:place> use|take|need",
          "[show|check|get] [me] [the] (size | disk usage) of <path:place>"),
    *rows(_read, "show|read|open|cat|print|display [me|us] [[the] contents|content|text of|in] <path:file>",
          "(what is | what's) in <path:file>"),
    *rows(_list, f"{_ME} [all] [the|my] files {_HERE}", f"what|which files (are [there] | do i|we have) {_HERE}",
          f"{_ME} [the] contents|content of|in <path:place>", "ls|dir", "ls|dir|list <path:place>"),
    *rows(_grep, f"search|grep [for] [the word|text] <pattern:item> {_WITHIN}",
          f"find|look [for] [the word|text] <pattern:quoted> {_WITHIN}",
          f"search|grep ({_ALL_FILES} | <path:place>) for [the word|text] <pattern:item>",
          "what|which files contain|mention [the word|text] <pattern:quoted>", "grep <pattern:item> [<path:place>]"),
    *rows(_glob, f"(find|locate | look|search for) [all] [the] [files [matching|named|called|like]] <pattern> {_HERE}",
          f"find|list [me] [all] [the] (<ending> | <pattern>) files {_HERE}",
          f"find|list [all] [the] files ending in|with|on <ending> {_HERE}",
          "(where is | where's) [the] [file] <pattern>"),
    *rows(_fetch, f"fetch|get|open|request|check|read|load|show|call [me] [the contents|content|text of] {_PAGE} <url>"
          " [and|then tell|show|give [me] (what it|the [page] says | what is there"
          " | [the|its] status|response|content|result)]",
          f"(what does|is [on|at|in] | what's on|at|in) {_PAGE} <url> [say|return|show|contain|answer]",
          "is <url> [still] up|reachable|online|alive|available"),
    *rows(_call("recall", "look up {query}", "What I remember about {query}", "Nothing about {query}.", is_free=True),
          "what do|did|can you [still] remember about|of|on <query:rest>", "what did i tell you about <query:rest>",
          "recall everything about <query:rest>"),
    *rows(_call("search_tools", "search the tools", "Tools for “{query}”", "No tool for “{query}”.", is_free=True),
          "search [through] [the|your|my] tools for <query:rest>",
          "(find | search for | look for) [me] [a|the] tool|tools for|to <query:rest>"),
)  # fmt: skip
CHANGING: Final = (
    *rows(_run_quoted,
          "run|execute|do|type [a] [the|this [following] [shell] command|script|code] [this] [for me] [:]"
          f" <commands:blocks> [command] {_IN_SHELL} {_AND_TELL} {_IN_SHELL}",
          f"run|execute [the|this following] [command] : <commands:blocks> {_AND_TELL}",
          "<commands:blocks> run|execute this|that|it", changes=True),
    *rows(_control("restart"), "restart|bounce <names:services>", "give <names:services> a restart", changes=True),
    *rows(_control("start"), "start|launch <names:services>", "turn on <names:services>", changes=True),
    *rows(_control("stop"), "stop <names:services>", "(shut down | turn off) <names:services>", changes=True),
    *(row for verb in ("reload", "enable", "disable")
      for row in rows(_control(verb), f"{verb} <names:services>", changes=True)),
    *rows(_shell("kill {pid}"), "kill|end|terminate [the] process|pid [with] [id|pid|number] <pid>", changes=True),
    *rows(_shell("systemctl reboot"), "reboot [the|this|my|our] [server|machine|box|computer|host|system|vm]",
          "restart the|this|my|our server|machine|box|computer|host|vm", changes=True),
    *rows(_delete_folder, "delete|remove|erase <path:folder>", changes=True),
    *rows(_delete, f"{_DELETES} (<path:file> | <path:files>)", changes=True),
    *rows(_move, "move|rename|mv <path:file> to|into|in|under|as <to:file>",
          "move <path:file> to|into|in|under <folder>", "mv <path> <to:path>",
          "change the name of <path:file> to <to:file>", changes=True),
    *rows(_shell("cp {path} {to}", "copy `{path}` to `{to}`", "Copied `{path}` to `{to}`."),
          "copy|cp|duplicate <path:file> to|as|into <to:file>", "cp <path> <to:path>",
          "make a copy of <path:file> as|to|in <to:file>", changes=True),
    *rows(_shell("mkdir -p {path}", "make the folder `{path}`", "The folder `{path}` is there."),
          "make|create|add <path:folder>", "mkdir <path>", changes=True),
    *rows(_edit, f"replace|swap {_EVERY} <old:item> with|by|for <new:item> [everywhere] in <path:file> [everywhere]",
          f"in <path:file> replace|swap {_EVERY} <old:item> with|by|for <new:item> [everywhere]",
          f"change {_EVERY} <old:quoted> to|into <new:quoted> [everywhere] in <path:file> [everywhere]",
          f"in <path:file> change {_EVERY} <old:quoted> to|into <new:quoted> [everywhere]", changes=True),
    *rows(_shell("printf '%s\\n' {content} >> {path}", "append to `{path}`", "Appended a line to `{path}`."),
          "append|add [the] [line|text] <content:quoted> to [the end of] <path:file>", changes=True),
    *rows(_write, f"create|make|write|save|add <path:file> {_WITH} [:] <content:block>",
          f"create|make|write|save|add <path:file> {_WITH} : <content:verbatim>",
          "create|make|write|save|add <path:file> : <content:verbatim>",
          "write|save|put [the] [text|line] <content:block> [to|into|in|as] <path:file>",
          "write|save [this | the following | the text] to|into|in|as <path:file> : <content:verbatim>", changes=True),
    *rows(_remind, "remind me <rest:rest>", "set|create|add|make [me] a|the reminder <rest:rest>",
          "<when:rest> remind me to|that|about <about:rest>", changes=True),
    *rows(_call("remember", "remember that", "I will remember: {text}", is_free=True),
          "remember|note [that|this] : <text:rest>", "remember|note that <text:rest>",
          "keep in mind that <text:rest>", "make|take a note : <text:rest>", changes=True),
    *rows(_call("create_task", "create the task", "Created the task “{title}”.", is_free=True),
          f"create|add|make [me] a|the [new] {_TASK} [for me|us] : <title:rest>",
          f"create|add|make [me] a|the [new] {_TASK} [for me|us] to|called|named <title:rest>",
          f"new {_TASK} : <title:rest>", f"put|add <title:quoted> on|to my|the|our {_TASK} [list]", changes=True),
    *rows(_call("delegate", "hand this to {lane}", "Handed to the {lane} lane: {text}", is_free=True),
          "delegate|hand|pass [this|it] [over] to [the] <lane:item> [lane] : <text:rest>", changes=True),
    # What has a shape of its own is no command, so this comes last.
    *rows(_run_plain, f"run|execute [the|this] [command] [:] <command> {_AND_TELL}", changes=True),
)  # fmt: skip
ORDERS: Final = (*READING, *CHANGING, *rows(_offer_to_run, "<commands:block>", "<commands:command>"))
