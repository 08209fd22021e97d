"""Names of files that usually hold secrets, and of those that switch guards on and off."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from fnmatch import fnmatchcase

# Matched against every part of a path in lower case.
SENSITIVE = (
    *(".env", ".env.*", "*.env", ".envrc", ".ssh", "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*"),
    *("*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.ppk", "*.asc", "*.gpg", "*.ovpn"),
    *(".aws", ".azure", ".gcloud", ".gnupg", ".kube", ".docker", ".git", ".config", ".password-store"),
    *(".netrc", "_netrc", ".pgpass", ".my.cnf", ".npmrc", ".pypirc", ".git-credentials", ".htpasswd"),
    *("credentials*", "*credentials.*", "secret", "secrets", "secret.*", "secrets.*", "*.secret", "*.secrets"),
    *("password*", "passwd*", "shadow", "shadow-", "*.token", "service-account*", "kubeconfig*", ".*_history"),
)

# They may be read, but a model that may write them could give itself leave to do anything.
GUARDS = (".claude", ".codex", ".gemini", ".cursor", ".husky", ".githooks", ".pre-commit-config.yaml", "sudoers*")


def is_sensitive(parts: Iterable[str]) -> bool:
    """Whether any part of a path is a name that usually holds secrets."""
    return _any_matches(parts, SENSITIVE)


def is_guard(parts: Iterable[str]) -> bool:
    """Whether any part of a path is a name that holds hooks or permissions of an agent."""
    return _any_matches(parts, GUARDS)


def _any_matches(parts: Iterable[str], patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for name in map(_plain, parts) for pattern in patterns)


def _plain(part: str) -> str:
    """The name as a person reads it: without invisible characters, wide letters as plain ones, in lower case."""
    seen = "".join(char for char in part if unicodedata.category(char) != "Cf")
    return unicodedata.normalize("NFKC", seen).casefold()
