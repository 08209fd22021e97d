"""Programs that run another program: how each is told which. Data only; `wrappers.py` reads it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Wrapper:
    """How to find the command inside a command line."""

    valued: str = ""
    """Options that take a value."""
    skip: int = 0
    """Operands before the command: a duration, a host, a container."""
    shell: str = ""
    """Options whose value is shell text."""
    joins: bool = False
    """Whether the operands, joined by blanks, are shell text."""
    each: bool = False
    """Whether each operand is shell text by itself."""
    root: bool = False
    remote: str | None = None
    variables: bool = False
    """Whether NAME=value operands may come first."""
    rule: str | None = None
    """What running it at all means."""


_SSH = "-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w -B"
_RUN = "-e --env --env-file -v --volume --mount -p --publish -w --workdir -u --user --name -h --hostname --network --net --entrypoint -m --memory --cpus -l --label --add-host --cap-add --cap-drop --device --dns --gpus --restart --security-opt --shm-size --stop-signal --tmpfs --ulimit --pid --ipc --uts --userns --platform --pull --log-driver --log-opt --volumes-from --cgroupns --expose --runtime --index"
_KUBE = "-n --namespace -c --container --context --kubeconfig --cluster --user -f --filename --image --overrides --restart --labels -l --env"
_NPX = "-p --package -c --call --node-options -w --workspace"
_PLAIN = Wrapper()
_PYTHON_ENV = Wrapper(
    "--python -p --with --group --extra --directory --project --env-file -e --package -n --name --no-group --index-url --from --with-requirements -C --cwd"
)

WRAPPERS: dict[str, Wrapper] = {
    "sudo": Wrapper("-u -g -h -p -C -r -t -T -U -D -R --user --group --prompt --host --chdir --close-from --role --type", root=True, variables=True),
    "doas": Wrapper("-u -C", root=True), "pkexec": Wrapper("--user", root=True), "su": Wrapper("-s --shell -g -G -w", skip=1, shell="-c --command --session-command", root=True),
    "runuser": Wrapper("-u --user -s --shell -g", shell="-c --command", root=True), "gosu": Wrapper(skip=1), "su-exec": Wrapper(skip=1),
    "sudoedit": Wrapper(root=True, rule="system-files"), "sg": Wrapper(skip=1, shell="-c"), "setpriv": Wrapper("--reuid --regid --groups"),
    "env": Wrapper("-u --unset -C --chdir", shell="-S --split-string", variables=True),
    "timeout": Wrapper("-s --signal -k --kill-after", skip=1), "gtimeout": Wrapper("-s -k", skip=1), "nohup": _PLAIN, "nice": Wrapper("-n --adjustment"),
    "ionice": Wrapper("-c -n -p --class --classdata"), "chrt": Wrapper("-T -P -D", skip=1), "taskset": Wrapper("", skip=1), "numactl": Wrapper("-N -m -C -i --cpunodebind --membind"),
    "stdbuf": Wrapper("-i -o -e --input --output --error"), "unbuffer": _PLAIN, "setsid": _PLAIN, "time": Wrapper("-o -f --output --format"), "gtime": Wrapper("-o -f"),
    "command": _PLAIN, "builtin": _PLAIN, "exec": Wrapper("-a"), "noglob": _PLAIN, "nocorrect": _PLAIN, "coproc": _PLAIN, "then": _PLAIN, "do": _PLAIN, "else": _PLAIN,
    "busybox": _PLAIN, "toybox": _PLAIN, "caffeinate": Wrapper("-t -w"), "xvfb-run": Wrapper("-s -n -e -f"), "dbus-run-session": _PLAIN, "fakeroot": _PLAIN, "proot": Wrapper("-r -b -w -R -S"),
    "firejail": _PLAIN, "torsocks": _PLAIN, "torify": _PLAIN, "proxychains": Wrapper("-f"), "proxychains4": Wrapper("-f"), "rlwrap": Wrapper("-f -H -p"), "chronic": _PLAIN, "ts": _PLAIN, "moreutils": _PLAIN,
    "prlimit": Wrapper("--pid -p -o"), "cgexec": Wrapper("-g"), "setarch": Wrapper(skip=1), "linux32": _PLAIN, "linux64": _PLAIN, "catchsegv": _PLAIN, "valgrind": _PLAIN, "perf": Wrapper("-e -o -F", skip=1),
    "strace": Wrapper("-e -o -p -s -u -E -P -O -S -a -b -I"), "ltrace": Wrapper("-e -o -p -s -u -n"), "script": Wrapper("-T -I -O -B -o -m", skip=1, shell="-c --command"), "scriptreplay": _PLAIN,
    "watch": Wrapper("-n --interval", joins=True), "flock": Wrapper("-w --timeout -E", skip=1, shell="-c --command"), "entr": _PLAIN, "watchexec": Wrapper("-e --exts -w --watch -i --ignore -f -s -d", joins=True),
    "nodemon": Wrapper("-w --watch -e --ext -i --ignore -d --delay", shell="-x --exec"), "concurrently": Wrapper("-n --names -c --prefix-colors -p", each=True), "hyperfine": Wrapper("-w --warmup -r --runs -m -M -n --export-json --export-markdown -S", shell="-p --prepare -c --cleanup -s --setup", each=True),
    "npm-run-all": _PLAIN, "cross-env": Wrapper(variables=True), "dotenvx": Wrapper("-f", skip=1), "env-cmd": Wrapper("-f"), "dotenv": Wrapper("-f -e -c -v", skip=0), "chpst": Wrapper("-u -U -b -e -/ -n -l -L -m -d -o -p -f -c"), "envdir": Wrapper(skip=1), "tini": _PLAIN, "dumb-init": _PLAIN, "s6-setuidgid": Wrapper(skip=1),
    "ssh": Wrapper(_SSH, skip=1, joins=True, remote="host"), "autossh": Wrapper(_SSH + " -M", skip=1, joins=True, remote="host"), "mosh": Wrapper("-p --ssh", skip=1, joins=True, remote="host"), "rsh": Wrapper("-l", skip=1, joins=True, remote="host"), "sshpass": Wrapper("-p -f -d -P"), "dbclient": Wrapper(_SSH, skip=1, joins=True, remote="host"),
    "pdsh": Wrapper("-w -x -f -l -R", joins=True, remote="host"), "clush": Wrapper("-w -x -f -l -g", joins=True, remote="host"), "pssh": Wrapper("-h -H -l -p -t -o -e -x", joins=True, remote="host"), "parallel-ssh": Wrapper("-h -H -l -p -t", joins=True, remote="host"),
    "ansible": Wrapper("-i -m -u -l --limit -e -b -f --become-user", shell="-a --args", remote="host"), "salt": Wrapper("-t -b", skip=2, joins=True, remote="host"), "adb": Wrapper("-s", skip=1, joins=True, remote="host"),
    "chroot": Wrapper("--userspec --groups", skip=1, root=True, rule="root-command"), "nsenter": Wrapper("-t --target -S -G -r -w", root=True, rule="root-command"), "unshare": Wrapper("--map-user --map-group --root --wd -R -w"), "systemd-nspawn": Wrapper("-D -M -b -u", root=True, rule="root-command"), "machinectl-shell": Wrapper(skip=1, rule="root-command"),
    "systemd-run": Wrapper("-p --property --unit --slice -M --on-active --on-calendar --uid --gid -E --setenv", rule="schedule"), "start-stop-daemon": Wrapper("--pidfile --user --chuid --exec -x -p -c -n", rule="service"), "daemonize": Wrapper("-a -c -e -o -p -l -u"),
    "distrobox-enter": Wrapper("-n", remote="container"), "flatpak-spawn": Wrapper("--env --directory"), "wsl": Wrapper("-d -u -e", ), "winpty": _PLAIN, "arch": _PLAIN, "xcrun": Wrapper("--sdk"), "bwrap": Wrapper("--chdir --hostname"), "nix-shell": Wrapper("-p --packages -A -I", shell="--run --command"), "nix": Wrapper("-c", skip=9), "expect": Wrapper("-f", shell=""),
    "npx": Wrapper(_NPX, shell="-c --call"), "bunx": Wrapper(_NPX), "pnpx": Wrapper(_NPX), "pipx-run": _PLAIN, "uvx": _PYTHON_ENV, "direnv-exec": Wrapper(skip=1), "doppler-run": _PLAIN, "with-contenv": _PLAIN, "eatmydata": _PLAIN, "pv-cmd": _PLAIN, "errno": _PLAIN, "apptainer": Wrapper("-B --bind", skip=2, remote="container"),
}  # fmt: skip

SUBCOMMANDS: dict[tuple[str, ...], Wrapper] = {
    ("docker", "exec"): Wrapper(_RUN, skip=1, remote="container"), ("docker", "run"): Wrapper(_RUN, skip=1, remote="container"), ("docker", "create"): Wrapper(_RUN, skip=1, remote="container"),
    ("docker", "container", "exec"): Wrapper(_RUN, skip=1, remote="container"), ("docker", "container", "run"): Wrapper(_RUN, skip=1, remote="container"),
    ("docker", "compose", "exec"): Wrapper(_RUN, skip=1, remote="container"), ("docker", "compose", "run"): Wrapper(_RUN, skip=1, remote="container"),
    ("docker-compose", "exec"): Wrapper(_RUN, skip=1, remote="container"), ("docker-compose", "run"): Wrapper(_RUN, skip=1, remote="container"),
    ("podman", "exec"): Wrapper(_RUN, skip=1, remote="container"), ("podman", "run"): Wrapper(_RUN, skip=1, remote="container"), ("nerdctl", "exec"): Wrapper(_RUN, skip=1, remote="container"), ("nerdctl", "run"): Wrapper(_RUN, skip=1, remote="container"), ("crictl", "exec"): Wrapper("", skip=1, remote="container"), ("ctr", "exec"): Wrapper("", skip=1, remote="container"),
    ("kubectl", "exec"): Wrapper(_KUBE, skip=1, remote="container"), ("kubectl", "run"): Wrapper(_KUBE, skip=1, remote="container"), ("kubectl", "debug"): Wrapper(_KUBE, skip=1, remote="container"), ("oc", "exec"): Wrapper(_KUBE, skip=1, remote="container"), ("oc", "rsh"): Wrapper(_KUBE, skip=1, remote="container"), ("k", "exec"): Wrapper(_KUBE, skip=1, remote="container"),
    ("lxc", "exec"): Wrapper("", skip=1, remote="container"), ("incus", "exec"): Wrapper("", skip=1, remote="container"), ("multipass", "exec"): Wrapper("", skip=1, remote="container"), ("distrobox", "enter"): Wrapper("", skip=1, remote="container"), ("toolbox", "run"): Wrapper("-c", remote="container"), ("machinectl", "shell"): Wrapper("", skip=1, remote="container"),
    ("vagrant", "ssh"): Wrapper("", skip=9, shell="-c --command", remote="host"), ("heroku", "run"): Wrapper("-a --app -r", joins=True, remote="host"), ("fly", "ssh", "console"): Wrapper("-a", skip=9, shell="-C --command", remote="host"), ("flyctl", "ssh", "console"): Wrapper("-a", skip=9, shell="-C --command", remote="host"), ("railway", "run"): Wrapper("-s -e"),
    ("gcloud", "compute", "ssh"): Wrapper("--zone --project", skip=9, shell="--command", remote="host"), ("az", "ssh", "vm"): Wrapper("", skip=9, remote="host"), ("adb", "shell"): Wrapper("", joins=True, remote="host"), ("juju", "ssh"): Wrapper("", skip=1, joins=True, remote="host"),
    ("npm", "exec"): Wrapper(_NPX, shell="-c --call"), ("npm", "x"): Wrapper(_NPX, shell="-c --call"), ("pnpm", "exec"): Wrapper(_NPX), ("pnpm", "dlx"): Wrapper(_NPX), ("yarn", "exec"): Wrapper(_NPX), ("yarn", "dlx"): Wrapper(_NPX), ("bun", "x"): Wrapper(_NPX), ("yarn", "run"): Wrapper(""), ("yarn", "node"): Wrapper(""),
    ("poetry", "run"): _PYTHON_ENV, ("uv", "run"): _PYTHON_ENV, ("uv", "tool", "run"): _PYTHON_ENV, ("pipenv", "run"): _PYTHON_ENV, ("pdm", "run"): _PYTHON_ENV, ("hatch", "run"): _PYTHON_ENV, ("rye", "run"): _PYTHON_ENV, ("pipx", "run"): _PYTHON_ENV, ("conda", "run"): Wrapper("-n -p --name --prefix --cwd"), ("mamba", "run"): Wrapper("-n -p"), ("micromamba", "run"): Wrapper("-n -p"),
    ("bundle", "exec"): _PLAIN, ("mise", "exec"): Wrapper(""), ("mise", "x"): Wrapper(""), ("asdf", "exec"): _PLAIN, ("rbenv", "exec"): _PLAIN, ("pyenv", "exec"): _PLAIN, ("direnv", "exec"): Wrapper(skip=1), ("dotenv", "run"): Wrapper("-f"), ("op", "run"): Wrapper("--env-file"), ("doppler", "run"): Wrapper("-p -c", shell="--command"), ("aws-vault", "exec"): Wrapper("-d", skip=1), ("chamber", "exec"): Wrapper(skip=1), ("sops", "exec-env"): Wrapper(skip=1, each=True), ("sops", "exec-file"): Wrapper(skip=1, each=True), ("infisical", "run"): Wrapper("--env"), ("vault", "exec"): Wrapper(""),
    ("nix", "develop"): Wrapper("", skip=9, shell=""), ("nix", "run"): _PLAIN, ("nix", "shell"): _PLAIN, ("devbox", "run"): _PLAIN, ("guix", "shell"): _PLAIN, ("flox", "activate"): _PLAIN, ("apptainer", "exec"): Wrapper("-B", skip=1, remote="container"), ("singularity", "exec"): Wrapper("-B", skip=1, remote="container"),
    ("tmux", "new-session"): Wrapper("-s -n -c -x -y -t -e -F", joins=True), ("tmux", "new"): Wrapper("-s -n -c -x -y -t -e -F", joins=True), ("tmux", "new-window"): Wrapper("-n -c -t -e", joins=True), ("tmux", "neww"): Wrapper("-n -c -t -e", joins=True), ("tmux", "split-window"): Wrapper("-c -t -l -p", joins=True), ("tmux", "send-keys"): Wrapper("-t", joins=True), ("tmux", "send"): Wrapper("-t", joins=True), ("tmux", "run-shell"): Wrapper("-t -d", joins=True), ("tmux", "respawn-pane"): Wrapper("-t -c", joins=True), ("screen",): Wrapper("-S -t -c -s -T -h -p -X"), ("zellij", "run"): Wrapper("-n"),
    ("git", "bisect", "run"): _PLAIN, ("git", "submodule", "foreach"): Wrapper("", joins=True), ("git", "rebase"): Wrapper("--onto -s -X", skip=9, shell="-x --exec"), ("git", "difftool"): Wrapper("-t", skip=9, shell="-x --extcmd"), ("git", "filter-branch"): Wrapper("", skip=9, shell="--tree-filter --index-filter --msg-filter --env-filter --commit-filter"), ("git", "for-each-repo"): Wrapper("--config"), ("git", "fetch"): Wrapper("", skip=9, shell="--upload-pack"), ("git", "clone"): Wrapper("", skip=9, shell="--upload-pack -u"), ("git", "pull"): Wrapper("", skip=9, shell="--upload-pack"), ("git", "push"): Wrapper("", skip=9, shell="--receive-pack --exec"), ("git", "grep"): Wrapper("", skip=9, shell="--open-files-in-pager"), ("git", "worktree"): Wrapper("", skip=9),
    ("cargo", "watch"): Wrapper("-w -i -x", skip=9, shell="-s --shell"), ("lerna", "exec"): Wrapper("--scope"), ("nx", "exec"): _PLAIN, ("pnpm", "-r", "exec"): _PLAIN, ("rush", "exec"): _PLAIN, ("yarn", "workspaces", "foreach"): _PLAIN, ("cmake", "-E"): _PLAIN, ("swift", "run"): Wrapper("", skip=9), ("luit",): _PLAIN,
}  # fmt: skip
