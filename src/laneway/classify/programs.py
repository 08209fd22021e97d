# ruff: noqa: E501
"""Command lines typed as messages: which programs only read, and which leave something different."""

from __future__ import annotations

import re

from laneway.classify.effects import Effect

_READS = re.compile(
    r"(?:ls|ll|df|du|ps|htop|uptime|whoami|uname|hostname|pwd|grep|egrep|rg|wc|"
    r"(?:top|free|id|cat|less|more|head|tail|stat|last|host|history|who|w)(?= -|$| \S*[./])|"
    r"lsof|netstat|ss|nslookup|whois|ping|traceroute|tracepath|mtr|dmesg|journalctl|vmstat|iostat|lsblk|blkid|"
    r"whereis|printenv|lastlog|nginx -t|apachectl configtest|sshd -t|visudo -c|"
    r"git (?:status|log|diff|show|blame|shortlog|remote -v|branch(?: -[av]+)?$|rev-parse|describe|stash list|reflog)|"
    r"docker(?:[ -]compose)? (?:ps|logs|images|inspect|stats|top|version|info|port|history|events|config)|"
    r"kubectl (?:get|describe|logs|top|explain|version|cluster-info|diff)|helm (?:list|status|history|get|diff|template)|"
    r"systemctl (?:status|list-\S+|is-\S+|show|cat)|service \S+ status|(?:apt|apt-get|apt-cache|dnf|yum|brew|pip3?|npm|"
    r"cargo|gem) (?:list|show|search|info|outdated|freeze|policy|ls|check|audit|view)|terraform (?:plan|show|validate|"
    r"output|state list)|crontab -l|iptables (?:-\w*[ls]\w*)|ufw status|ip (?:a|addr|r|route|link)(?: show)?$|mount$|"
    r"redis-cli (?:info|get|keys|ping)|psql -l|mysqladmin status|zpool status|zfs list|mdadm --detail|smartctl)"
    r"(?=\s|$|[,.;:|])"
)
_CHANGES = re.compile(
    r"(?:rm|mv|cp|ln|mkdir|rmdir|touch|dd|mkfs\S*|chmod|chown|chgrp|kill|killall|pkill|reboot|shutdown|poweroff|halt|"
    r"useradd|userdel|usermod|adduser|deluser|passwd|crontab -[er]|sed -i|tee|truncate|shred|scp|rsync(?! with -n)|wget|"
    r"git (?:push|pull|commit|merge|rebase|reset|checkout|switch|restore|stash|tag|clone|clean|cherry-pick|revert|add|"
    r"rm|mv|fetch|init|am|apply)|docker(?:[ -]compose)? (?:run|rm|rmi|stop|start|restart|kill|exec|pull|push|build|up|"
    r"down|prune|system prune|volume rm|pause|unpause|tag|load|create)|kubectl (?:delete|apply|create|scale|rollout|"
    r"drain|cordon|uncordon|patch|edit|exec|set|replace|label|annotate|taint)|helm (?:install|upgrade|uninstall|"
    r"rollback)|systemctl (?:re)?(?:start|stop|load|enable|disable|mask|unmask|kill|daemon-reload|isolate)\S*|"
    r"service \S+ (?:re)?(?:start|stop|load)|(?:apt|apt-get|dnf|yum|brew|pip3?|npm|cargo|gem|snap|pacman|yarn|poetry) "
    r"(?:-\S+ )*(?:install|remove|purge|upgrade|update|dist-upgrade|full-upgrade|autoremove|uninstall|add|i|ci|publish|"
    r"-s\S*)|terraform (?:apply|destroy|import|taint)|ansible-playbook|iptables -[adifx]|ufw (?:allow|deny|enable|"
    r"disable|delete)|psql .*-c|redis-cli (?:flush\w+|del|set))(?=\s|$)"
)
_SQL_CHANGES = re.compile(
    r"(?:update [\w.\"`]+ set|delete from|insert (?:or \w+ )?into|drop (?:table|database|schema|index|view|user)|alter "
    r"(?:table|user|role|system)|truncate(?: table)? \w+|create (?:table|index|user|role|database|view)|grant .+ to|"
    r"revoke .+ from|merge into|replace into)\b"
)
_SQL_READS = re.compile(
    r"(?:select\b.+\bfrom\b|select \S|show (?:variables|tables|databases|status|grants)|explain |with \w+ as)"
)
_WRITES = re.compile(
    r"\s>{1,2}\s*[\w./~-]+|\|\s*(?:sudo )?(?:tee|xargs|sh|bash)\b|\s-(?:x|-request) ?(?:post|put|delete|patch)\b|\s--?delete\b"
)
_ABOUT = re.compile(r"\?$|\b(?:would|at all|needed|explain|mean|means|is|was|does)\b")
_DRY = re.compile(r"\s(?:--dry-run\S*|--check|-n|--simulate|--what-?if|--diff|-whatif|--noop)(?=\s|$)")


def effect(line: str) -> Effect:
    """What a command line does; nothing if the text is not one we know."""
    plain = re.sub(r"^(?:(?:please|pls|just|run|execute|do|sudo|then|and|now|\$|#|>)\s+)+", "", line)
    if _DRY.search(plain) and (_CHANGES.match(plain) or _READS.match(plain)):
        return Effect.HARMLESS
    if _ABOUT.search(plain):
        return Effect.NOTHING
    if _CHANGES.match(plain) or _SQL_CHANGES.match(plain):
        return Effect.CHANGES
    if _READS.match(plain) or _SQL_READS.match(plain):
        return Effect.CHANGES if _WRITES.search(plain) else Effect.HARMLESS
    return Effect.NOTHING
