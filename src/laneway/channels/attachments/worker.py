"""A program of its own (`python -I -m … ORDER`): reads one file from its input behind walls, and tells what it found.

The order is JSON in the first argument, the answer is JSON on the output: what the job returns, or a note that says
why there is nothing. An error nobody foresaw ends it with a code that is not 0, which tells enough.
"""

from __future__ import annotations

import base64
import importlib.util
import json
import os
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from laneway.channels.attachments.confinement import confine
from laneway.channels.attachments.documents.contract import Unreadable

Job = Callable[[bytes, dict[str, Any]], dict[str, Any]]
NEEDED = {"pdf": "pypdf", "docx": "defusedxml", "pptx": "defusedxml", "odf": "defusedxml", "sheet": "python_calamine"}


def main() -> None:
    order: dict[str, Any] = json.loads(sys.argv[1])
    confine(order["seconds"], order["memory_bytes"])
    if order["job"] == "letters":
        _become_tesseract(order)
    content = sys.stdin.buffer.read()
    try:
        answer = JOBS[order["job"]](content, order)
    except Unreadable as error:
        answer = {"note": str(error)}
    except MemoryError:
        answer = {"note": "it needs too much memory"}
    except RecursionError:
        answer = {"note": "it is nested too deeply"}
    sys.stdout.write(json.dumps(answer))


def _text(content: bytes, order: dict[str, Any]) -> dict[str, Any]:
    form = order["form"]
    if form in NEEDED and importlib.util.find_spec(NEEDED[form]) is None:
        raise Unreadable("reading it needs `pip install 'laneway[documents]'`")
    pages, characters = order["pages"], order["characters"]
    if form == "pdf":
        from laneway.channels.attachments.documents.pdf import read as read_pdf

        return read_pdf(content, pages, characters).as_dict()
    if form == "sheet":
        from laneway.channels.attachments.documents.sheets import read as read_sheets

        return read_sheets(content, pages, characters).as_dict()
    if form in ("docx", "pptx", "odf"):
        from laneway.channels.attachments.documents.office import read as read_office

        return read_office(content, form, pages, characters).as_dict()
    from laneway.channels.attachments.documents.texts import read as read_text

    return read_text(content, order["mime"], characters).as_dict()


def _picture(content: bytes, order: dict[str, Any]) -> dict[str, Any]:
    if importlib.util.find_spec("PIL") is None:
        return {"missing": True}
    from laneway.channels.attachments.documents.pictures import ready

    picture, width, height = ready(content, order["side"], order["pixels"], gray=order["gray"])
    return {"content": base64.b64encode(picture).decode(), "width": width, "height": height}


def _become_tesseract(order: dict[str, Any]) -> NoReturn:
    program, languages = order["program"], order["languages"]
    arguments = [program, "stdin", "stdout", "-l", languages, "--psm", "3"]
    # One thread: it would start one for each processor, and use the time of all of them.
    os.execve(program, arguments, {"OMP_THREAD_LIMIT": "1", "LANG": "C.UTF-8"})  # noqa: S606


JOBS: dict[str, Job] = {"text": _text, "picture": _picture}

if __name__ == "__main__":
    main()
