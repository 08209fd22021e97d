"""Disks and file systems: formatting, partitioning, mounting, raw copies."""

from __future__ import annotations

import re
from collections.abc import Iterator

from laneway.sandbox.shell.holes import shown
from laneway.sandbox.shell.invocation import Invocation
from laneway.sandbox.shell.places import Place, place_of
from laneway.sandbox.shell.programs.files import Rule
from laneway.sandbox.shell.programs.losing import writes
from laneway.sandbox.shell.rules import Finding

_ASKING = {
    "fdisk": r".*(-l|--list|-s|-x)\b.*", "sfdisk": r".*(-l|--list|-d|--dump|-J|--json|-F|-n|--no-act)\b.*",
    "parted": r"(.* )?(print|-l|--list)( .*)?", "gdisk": r"-l .*", "sgdisk": r".*(-p|-i|--print)\b.*", "mount": r"(-l|--show-labels|-V|-t \w+)?",
    "umount": r"-V", "losetup": r"(-a|-l|--list|--all)?", "lvs": r".*", "fsck": r".*\s?-[a-zA-Z]*[nN]\b.*",
    "e2fsck": r".*-n\b.*", "wipefs": r"(?!.*(-a|--all|-o|--offset|-f|--force)).*|.*(-n|--no-act).*", "zpool": r"(list|status|get|history|iostat|events).*",
    "zfs": r"(list|get|diff|holds|mount$).*|.*\b(destroy|rollback) (.* )?-[a-zA-Z]*n[a-zA-Z]*\b.*", "btrfs": r".*\b(show|list|df|usage|status|get-default|stats)\b.*",
    "mdadm": r".*(--detail|-D|--examine|-E|--query|-Q)\b.*", "cryptsetup": r"(status|luksDump|isLuks).*", "swapoff": r"-V",
    "hdparm": r"-[iIgtT]+ .*", "smartctl": r"(?!.*(-t|-s)).*", "tune2fs": r"-l .*", "diskutil": r"(list|info|apfs list|activity).*",
    "lvm": r"(lvs|vgs|pvs|lvdisplay).*", "xfs_info": r".*", "dumpe2fs": r".*", "quota": r".*", "nvme": r"(list|smart-log|id-).*",
}  # fmt: skip
"""What only asks, as a pattern on the arguments; anything else changes a disk."""
_ALWAYS = (
    "mkfs mke2fs mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.xfs mkfs.btrfs mkfs.vfat mkfs.fat mkfs.ntfs mkfs.f2fs mkswap newfs "
    "lvremove vgremove pvremove lvcreate vgcreate pvcreate lvreduce lvresize lvextend blkdiscard badblocks resize2fs "
    "xfs_growfs xfs_repair format fstrim ddrescue partclone cfdisk cgdisk partprobe mkudffs debugfs flashrom fwupdmgr "
    "e2label xfs_admin zdb swapon_force vgchange pvmove mount.cifs mount.nfs pumount udisksctl sg_format"
)


def disk(run: Invocation) -> Iterator[Finding]:
    asking = _ASKING.get(run.program)
    if run.args in (["--help"], ["--version"], ["-V"], ["-h"]):
        return
    if asking is None or not re.fullmatch(asking, " ".join(run.args)):
        yield Finding("file-system", f"It makes, changes, mounts or destroys a file system ({run}).")


def dd(run: Invocation) -> Iterator[Finding]:
    given = dict(word.split("=", 1) for word in run.args if "=" in word)
    target, source = given.get("of"), given.get("if", "")
    if source and place_of(source, run.scope) is Place.DEVICE:
        yield Finding("disk-device", f"It reads the device {shown(source)} raw.")
    if target is not None:
        yield from writes(target, run.scope, empties=False)
        endless = re.match(r"/dev/(zero|u?random|full)", source) and "count" not in given
        if endless and place_of(target, run.scope) is not Place.HARMLESS:
            yield Finding("exhaust", "It fills the disk.")
    if (
        re.search(r"[TPE]i?B?$", given.get("bs", ""))
        or int(re.sub(r"\D", "", given.get("count", "")) or 0) > 50_000_000
    ):
        yield Finding("exhaust", "It writes more than a disk holds.")


def fallocate(run: Invocation) -> Iterator[Finding]:
    found = run.options("-l --length -o --offset")
    for size in found.of("-l", "--length"):
        if re.fullmatch(r"\d{11,}|\d{2,}G(i?B)?|\d+[TPE](i?B)?", size):
            yield Finding("exhaust", "It takes up as much of the disk as it says.")
    for word in found.operands:
        yield from writes(word, run.scope)


DISKS: dict[str, Rule] = {
    **dict.fromkeys([*_ASKING, *_ALWAYS.split()], disk), "dd": dd, "dcfldd": dd, "fallocate": fallocate,
}  # fmt: skip
for _name in ("lvs", "xfs_info", "dumpe2fs", "quota"):
    del DISKS[_name]
