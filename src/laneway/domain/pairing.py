"""Pairing codes: eight characters that prove, once and within the hour, that a sender is who the owner meant."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import unicodedata
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from laneway.domain.conversation import Role

ALPHABET = "23456789CDFHJKMNPQRTVWX"
"""Nothing that looks like something else (0 O, 1 I L, 2 Z, 5 S, 6 G, 8 B, U V), and no vowels: no word is a code."""

LENGTH = 8
VALID_SECONDS = 3600
TRIES = 5
"""So many wrong tries end all open codes, and each sender has so many an hour."""

MOST_OPEN = 5
_LONGEST_TEXT = 40
_SENT = re.compile(rf"(?:/(?:START|PAIR)(?:@\w+)?)?([{ALPHABET}]{{{LENGTH}}})")


@dataclass(frozen=True, slots=True)
class Pairing:
    """An open door for one more address; of its code only a hash is known."""

    id: UUID
    code_hash: str
    role: Role
    principal_id: UUID | None
    name: str
    tries_left: int
    expires_at: datetime
    used_at: datetime | None
    used_by: str | None


def new_code() -> str:
    """A code nobody can guess in five tries, as people read it."""
    drawn = "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))
    return f"{drawn[:4]}-{drawn[4:]}"


def code_in(text: str) -> str | None:
    """The code a text consists of, whatever its case, dashes and spaces; None if it is anything else."""
    if not LENGTH <= len(text) <= _LONGEST_TEXT:
        return None
    plain = unicodedata.normalize("NFKC", text).upper()
    packed = "".join(c for c in plain if not c.isspace() and unicodedata.category(c) != "Pd")
    found = _SENT.fullmatch(packed)
    return found[1] if found else None


def hashed(code: str, salt: UUID) -> str:
    """What is stored of a code. It is short, so the hash is slow: whoever reads it cannot find the code in an hour."""
    packed = code.replace("-", "").encode()
    return hashlib.scrypt(packed, salt=salt.bytes, n=2**14, r=8, p=1, dklen=32).hex()


def matching(code: str, pairings: list[Pairing]) -> Pairing | None:
    """The pairing of this code; how long it takes does not tell which it was, or how near."""
    found = None
    for pairing in pairings:
        if hmac.compare_digest(hashed(code, pairing.id), pairing.code_hash):
            found = pairing
    return found
