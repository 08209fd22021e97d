"""Skill: deleting, moving and copying files, making folders, and the end of a log.

Shapes:
    delete notes.txt · remove the file old.log · get rid of a.txt and b.txt · rm old.log      → `delete_file`
    move a.txt to b.txt · rename a.txt as b.txt · move notes.txt into archive/                → `move_file`
    delete /tmp/x.log · move /tmp/a to /tmp/b · copy a.txt to b.txt · make a folder called x
    delete the folder build · show me the last 20 lines of app.log                            → `bash`
    lösche …, … löschen, entferne … · verschiebe … nach …, benenne … in … um · kopiere … nach …
    supprime …, efface … · déplace … vers …, renomme … en … · borra …, elimina … · mueve … a …, renombra … a …

Relative paths lie in the workspace and are the file tools' work; absolute ones are the shell's.
"""

from __future__ import annotations

from laneway.llm.offline.file_requests import SYSTEM_LOGS
from laneway.llm.offline.marking import Said
from laneway.llm.offline.orders import Offer, Order, Understood, every, one, saying
from laneway.llm.offline.paths import for_shell, is_absolute, is_file, is_folder, last_part
from laneway.llm.offline.politeness import Words
from laneway.llm.offline.run_commands import bash
from laneway.llm.offline.shapes import Found, fitting, shapes

DELETE_FILE, MOVE_FILE = "delete_file", "move_file"

_DELETES = shapes("@delete (?:bitte )?@these_files(?: files?)?", "@these_files (?:bitte )?@deleted")
_DELETES_FOLDER = shapes(
    "@delete (?:bitte )?@the(?:whole |entire )?@folder@named?<name>", "@the@folder<name> (?:bitte )?@deleted"
)
_MOVES = shapes(
    "@move @the@file?<name> @to @the(?P<inside>@folder)?<to>",
    "mv <name> <to>",
    "change the name of @the@file?<name> to <to>",
    "benenne @the@file?<name> (?:in|zu) <to> um",
)
_COPIES = shapes("(?:@copy|make a copy of) @the@file?<name> @to <to>", "cp <name> <to>")
_MAKES_FOLDER = shapes("@make @the@folder@named?<name>(?: an)?", "mkdir <name>")
_TAIL = shapes(
    r"@show(?:@me)? (?:the |die |les |las )?@last (?P<count>\d{1,4}) @lines @of @the@file?<name>",
    r"@show(?:@me)? (?:the |die |les |las )?(?P<count>\d{1,4}) @last @lines @of @the@file?<name>",
)
_NO_FOLDER = ("structure", "tree", "listing", "here", "for", "with", "please")


def file_orders(words: Words, offer: Offer) -> Understood:
    """Calls of the file tools for the workspace, shell commands for the rest of the machine."""
    for found in fitting(words.core, _TAIL):
        return _tail(found, offer)
    if words.is_question:
        return None
    for found in fitting(words.core, _DELETES_FOLDER):
        return _delete_folder(found, offer)
    for found in fitting(words.core, _DELETES):
        return _delete(found, offer)
    for found in fitting(words.core, _MOVES):
        return _move(found, offer)
    for found in fitting(words.core, _COPIES):
        return _copy(found, offer)
    for found in fitting(words.core, _MAKES_FOLDER):
        return _make_folder(found, offer)
    return None


def _names_file(found: Found, name: Said) -> bool:
    is_named = found.has("file") or found.has("files")
    return is_file(name, is_named=is_named, is_called=found.has("named"))


def _delete(found: Found, offer: Offer) -> Understood:
    names = found.values("names")
    if not names or not all(_names_file(found, name) and not name.value.endswith("/") for name in names):
        return None
    return every([_delete_one(name.value, offer) for name in names])


def _delete_one(path: str, offer: Offer) -> Order | None:
    about, done = f"delete `{path}`", f"Deleted `{path}`."
    if is_absolute(path):
        return bash(f"rm {for_shell(path)}", offer, about=about, done=done)
    return offer.order(DELETE_FILE, about, saying(done), path=path)


def _delete_folder(found: Found, offer: Offer) -> Understood:
    name = found.part("name")
    # "Delete the folder now" names none.
    if not is_folder(name, is_named=name.quoted is not None or found.has("named") or not name.value.isalpha()):
        return None
    path = name.value
    about, done = f"delete the folder `{path}`", f"Deleted the folder `{path}`."
    return one(bash(f"rm -r {for_shell(path)}", offer, about=about, done=done))


def _move(found: Found, offer: Offer) -> Understood:
    name, to = found.part("name"), found.part("to")
    if not _names_file(found, name):
        return None
    is_inside = found.has("inside") or to.value.endswith("/")
    if is_inside and is_folder(to, is_named=True):
        target = f"{to.value.rstrip('/')}/{last_part(name.value)}"
    elif is_file(to):
        target = to.value
    else:
        return None
    return one(_move_one(name.value, target, offer))


def _move_one(path: str, to: str, offer: Offer) -> Order | None:
    about, done = f"move `{path}` to `{to}`", f"Moved `{path}` to `{to}`."
    if is_absolute(path) or is_absolute(to):
        return bash(f"mv {for_shell(path)} {for_shell(to)}", offer, about=about, done=done)
    return offer.order(MOVE_FILE, about, saying(done), path=path, to=to)


def _copy(found: Found, offer: Offer) -> Understood:
    name, to = found.part("name"), found.part("to")
    if not _names_file(found, name) or not (is_file(to) or to.value.endswith("/")):
        return None
    about, done = f"copy `{name.value}` to `{to.value}`", f"Copied `{name.value}` to `{to.value}`."
    return one(bash(f"cp {for_shell(name.value)} {for_shell(to.value)}", offer, about=about, done=done))


def _make_folder(found: Found, offer: Offer) -> Understood:
    name = found.part("name")
    if not is_folder(name, is_named=name.value not in _NO_FOLDER):
        return None
    about, done = f"make the folder `{name.value}`", f"The folder `{name.value}` is there."
    return one(bash(f"mkdir -p {for_shell(name.value)}", offer, about=about, done=done))


def _tail(found: Found, offer: Offer) -> Understood:
    name = found.part("name")
    # The system's own log is answered by `server_info`.
    if not _names_file(found, name) or name.value in SYSTEM_LOGS:
        return None
    return one(bash(f"tail -n {int(found.value('count'))} {for_shell(name.value)}", offer))
