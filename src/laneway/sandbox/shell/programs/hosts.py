"""Hosts in words: which addresses are this machine, which are another's, and which give credentials away."""

from __future__ import annotations

import re

from laneway.sandbox.shell.holes import holes, without_holes

_LOOPBACK = re.compile(r"(?i)(localhost|.*\.localhost|127(\.\d+){3}|\[?::1\]?|0\.0\.0\.0|host\.docker\.internal|0)")
METADATA = re.compile(
    r"(?i)169\.254\.169\.254|169\.254\.170\.2|metadata\.google\.internal|100\.100\.100\.200|fd00:ec2::254|"
    r"metadata\.azure|168\.63\.129\.16|2852039166|0xa9fea9fe|metadata/instance|\[::ffff:169\.254"
)
_URL = re.compile(r"(?i)^([a-z][a-z0-9+.-]*)://(?:[^/@]*@)?(\[[^\]]*\]|[^/:?#]*)")
_REMOTE_PATH = re.compile(r"^(?:[\w.-]+@)?([\w.-]+|\[[^\]]+\]):(?!\\|//)")
_REMOTE_SCHEMES = {"rsync", "ssh", "sftp", "scp", "ftp", "http", "https", "s3", "gs", "rclone", "dav", "davs"}


def url_host(word: str) -> str | None:
    """The host of a web address, also of one without a scheme."""
    found = _URL.match(word)
    if found:
        return found[2]
    bare = re.match(r"^([\w.-]+\.[a-zA-Z]{2,}|localhost|\d+(\.\d+){3}|\[[0-9a-fA-F:]+\])(:\d+)?(/|\?|$)", word)
    return bare[1] if bare else None


def is_here(host: str) -> bool:
    """Whether a host is this machine."""
    return _LOOPBACK.fullmatch(host) is not None


def is_foreign(word: str) -> bool:
    """Whether a web address leads to another machine; one nobody knows counts as such."""
    host = url_host(word)
    if host is None:
        return bool(holes(word))
    return not is_here(without_holes(host, "x"))


def foreign_target(word: str) -> bool:
    """Whether a target of scp or rsync lies on another machine."""
    url = _URL.match(word)
    if url:
        return url[1].lower() in _REMOTE_SCHEMES and not is_here(url[2])
    remote = _REMOTE_PATH.match(without_holes(word, "x"))
    return remote is not None and not is_here(remote[1]) and not word.startswith(("/", "./", "../"))
