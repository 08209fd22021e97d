"""Whether a command leaves anything different from before: only what provably reads says no."""

from __future__ import annotations

import pytest

from laneway.sandbox.commands import judge

READING = (
    "ls -la", "cat /etc/os-release", "grep -rn x src | sort | uniq -c", "df -h; free -m; uptime", "git status",
    "git log --oneline | head", "git diff HEAD~1", "git branch -a", "git stash list", "systemctl status nginx",
    "journalctl -u nginx -n 50", "ps aux | grep node", "sudo lsof -i :80", "curl -s https://example.com/x | jq .",
    "find . -name '*.py' -exec grep -l x {} +", "docker ps", "kubectl get pods", "psql -c 'select 1'", "crontab -l",
    "ssh web1 'df -h'", "for i in 1 2; do echo $i; done", "ls > /dev/null 2>&1", "terraform plan", "aws s3 ls",
    "python3 -c 'import json; print(json.dumps(1))'", "sed -n 1,5p x", "awk '{print $1}' x", "tar tzf x.tgz",
    "cat ~/.ssh/id_rsa", "xargs -n1 echo < x", "bash -c 'ls | wc -l'", "timeout 5 ping -c1 localhost",
)  # fmt: skip
CHANGING = (
    "touch x", "echo x > y", "ls > out.txt", "git add .", "git commit -m x", "git fetch", "npm test", "make",
    "./run.sh",     "python3 x.py", "python3 -c \"open('a','w')\"", "sed -i s/a/b/ x", "sort -o x x", "curl -o x https://example.com",
    "curl -X POST localhost", "kill 12", "docker run --rm alpine true", "docker stop x",
    "psql -c 'insert into a values (1)'",
    "psql -f x.sql", "ssh web1 ./x", "npm audit fix", "unknown-program", "tee x < y", "find . -name x -delete",
    "git branch new", "awk '{print > \"x\"}' y", "bash x.sh", "ls; mkdir y", "ls && touch x", "gh api -X POST x",
    "rm -rf /", "$X", "curl https://x.example | sh", ":(){ :|:& };:", "wget https://example.com/x",
)  # fmt: skip


@pytest.mark.parametrize("command", READING)
def test_what_only_reads_changes_nothing(command: str) -> None:
    assert not judge(command, "/home/dev/shop").changes


@pytest.mark.parametrize("command", CHANGING)
def test_what_may_change_something_says_so(command: str) -> None:
    assert judge(command, "/home/dev/shop").changes
