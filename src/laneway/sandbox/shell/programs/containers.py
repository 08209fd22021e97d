"""Docker and its like: containers with power over the host, and removal of containers, volumes and images."""

from __future__ import annotations

import re
from collections.abc import Iterator

from laneway.sandbox.shell.holes import has_hole, shown
from laneway.sandbox.shell.invocation import Invocation
from laneway.sandbox.shell.places import Place, place_of
from laneway.sandbox.shell.programs.naming import Rule
from laneway.sandbox.shell.rules import Finding
from laneway.sandbox.shell.tables import VALUED

GLOBAL, RUN = VALUED["docker"], VALUED["docker_run"]
_POWER = re.compile(r"(?i)(SYS_ADMIN|ALL|SYS_PTRACE|SYS_MODULE|NET_ADMIN|DAC_READ_SEARCH|SYS_RAWIO|CAP_SYS_ADMIN)")
_SOCKET = re.compile(r"(docker|containerd|podman|crio)\.sock")


def docker(run: Invocation) -> Iterator[Finding]:
    found = run.options(GLOBAL, until_operand=True)
    words = found.operands
    if words[:1] == ["compose"] or run.program in ("docker-compose", "podman-compose"):
        rest = words[1:] if words[:1] == ["compose"] else words
        yield from compose(Invocation("compose", rest, run.scope))
        return
    if words[:1] in (["container"], ["image"]) and words[1:2] not in (["prune"],):
        words = words[1:]
    name, rest = (words[0], words[1:]) if words else ("", [])
    if rest[-1:] == ["--help"] and name not in ("run", "exec", "create"):
        return
    inner = Invocation(name, rest, run.scope)
    if name in ("run", "create", "exec"):
        yield from _started(inner)
    else:
        yield from _removed(inner)


def _started(run: Invocation) -> Iterator[Finding]:
    found = run.options(RUN, until_operand=True)
    if "--privileged" in found.flags or found.of("--privileged") == ["true"]:
        yield Finding("privileged-container", "The container has every right of the host.")
    if any(_POWER.fullmatch(name.removeprefix("CAP_")) for name in found.of("--cap-add")) or found.has("--device"):
        yield Finding("privileged-container", "The container is given power over the kernel or a device.")
    hosted = [*found.of("--pid", "--ipc", "--uts", "--userns", "--cgroupns")]
    if "host" in hosted or any("unconfined" in option for option in found.of("--security-opt")):
        yield Finding("privileged-container", "The container shares the host's processes or is not confined.")
    for mount in found.of("-v", "--volume", "--mount"):
        yield from _mounted(mount, run)


def _mounted(mount: str, run: Invocation) -> Iterator[Finding]:
    if "=" in mount and "," in mount:
        given = dict(part.split("=", 1) for part in mount.split(",") if "=" in part)
        source, mode = given.get("source") or given.get("src") or "", "ro" if "readonly" in mount else ""
    else:
        source, _, rest = mount.partition(":")
        mode = rest.rpartition(":")[2] if ":" in rest else ""
    if _SOCKET.search(source):
        yield Finding("privileged-container", "The container may start others through the container engine's socket.")
    elif source.startswith(("/", "~", ".")) and place_of(source, run.scope) in (
        Place.ROOT, Place.SYSTEM, Place.STARTUP, Place.DEVICE,
    ):  # fmt: skip
        if "ro" not in mode.split(",") or place_of(source, run.scope) is Place.ROOT:
            yield Finding("privileged-container", f"The container may write to {shown(source)} of the host.")
    elif re.search(r"/\.(ssh|aws|gnupg|kube)(/|$)", run.scope.path(source) or ""):
        yield Finding("read-secret", f"The container is given {shown(source)}, which holds secrets.")


def _removed(run: Invocation) -> Iterator[Finding]:
    words = run.options("--filter -f").operands if run.program != "rm" else run.options().operands
    line = " ".join([run.program, *words[:1]])
    many = any(has_hole(word) or "*" in word for word in words)
    if run.program in ("system", "volume", "container", "network", "image", "buildx", "builder") and words[:1] == [
        "prune"
    ]:
        dangling = run.program == "image" and not run.options().has("-a", "--all")
        if run.program not in ("builder", "buildx") and not dangling:
            yield Finding("container-loss", f"docker {line} removes everything that is not in use.")
    elif line in (
        "system reset",
        "machine rm",
        "machine reset",
        "volume rm",
        "volume remove",
        "swarm leave",
        "stack rm",
        "service rm",
        "secret rm",
        "node rm",
        "config rm",
        "context rm",
    ):
        yield Finding("container-loss", f"docker {line} loses what no image brings back.")
    elif run.program in ("rm", "kill", "stop", "rmi") and (many or (run.program == "rm" and _forced(run))):
        yield Finding("container-loss", f"docker {run.program} removes or ends containers by force, or all of them.")
    elif run.program == "push" or line in ("image push", "manifest push"):
        yield Finding("publish", "It publishes an image.")
    elif run.program in ("service", "stack", "node", "swarm") and words[:1] not in (
        ["ls"],
        ["ps"],
        ["inspect"],
        ["logs"],
        ["services"],
    ):
        yield Finding("cloud-change", f"docker {line} changes the cluster.")


def _forced(run: Invocation) -> bool:
    return run.options().has("-f", "--force", "-v", "--volumes")


def compose(run: Invocation) -> Iterator[Finding]:
    found = run.options(GLOBAL, until_operand=True)
    name, rest = (found.operands[0], found.operands[1:]) if found.operands else ("", [])
    inner = Invocation(name, rest, run.scope).options(RUN + " -t --timeout")
    if name == "down" and inner.has("-v", "--volumes", "--rmi"):
        yield Finding("container-loss", "It removes the volumes, and with them the data.")
    elif name == "rm" and inner.has("-v", "-f", "--force"):
        yield Finding("container-loss", "It removes containers with their volumes or by force.")
    elif name == "push":
        yield Finding("publish", "It publishes images.")
    elif name in ("run", "exec") and "--privileged" in inner.flags:
        yield Finding("privileged-container", "The container has every right of the host.")


CONTAINERS: dict[str, Rule] = {
    "docker": docker, "podman": docker, "nerdctl": docker, "docker-compose": docker, "podman-compose": docker,
}  # fmt: skip
