"""Words of the command line: programs everybody knows, their subcommands, and those that a name may follow."""

from __future__ import annotations

PROGRAMS = frozenset(
    """
    apt apt-get awk base64 basename bash cal cargo cat chmod chown cmp comm cp crontab curl cut date dd df diff dig dir
    dirname dmesg dnf docker docker-compose dpkg du echo egrep env expr file find free gcc getent git go grep groups
    gunzip gzip head helm history host hostname hostnamectl htop id ifconfig ip iostat iptables jobs journalctl jq
    kill kubectl last ldd less ln locale ls lsblk lscpu lsof make md5sum mkdir mount mpstat mv mypy mysql nc netstat
    nginx nice node npm npx nproc nslookup openssl pgrep ping pip pip3 pnpm printenv printf ps psql pstree pwd pytest
    python python3 readlink realpath redis-cli rm rmdir rsync ruff sar sed seq sh sha256sum sleep sort split sqlite3 ss
    ssh stat strings stty sudo sysctl systemctl tac tail tar tee terraform timedatectl tmux touch tr tree truncate
    uname uniq unzip uptime users uv vmstat w wc wget which who whoami xargs xxd yarn yum zcat zip
    """.split()
)

SUBCOMMANDS = frozenset(
    """
    add addr apply audit aux build branch cat-file check clean compose config daemon-reload describe df diff down exec
    fetch freeze get images info init inspect install is-active is-enabled link list list-timers list-units logs log ls
    nodes pods ps pull push rebase reload remote restart route run services sh show shortlog stash start stats status
    stop sync tag test top tree up update upgrade version volume volumes worktree network main master origin all
    """.split()
)

# After these a name follows that is in nobody's list.
TAKES_A_NAME = frozenset(
    "start stop restart reload status is-active is-enabled logs checkout switch install describe run which pgrep".split()
)
