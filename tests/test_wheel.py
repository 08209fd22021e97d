"""What `pip install .` brings: the wheel holds every file the program reads, and its command."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_the_wheel_holds_every_file_of_the_package_and_the_command(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        packed = set(archive.namelist())
        (entry_points,) = [name for name in packed if name.endswith("entry_points.txt")]
        assert "laneway = laneway.cli:main" in archive.read(entry_points).decode()
    package = ROOT / "src"
    needed = {
        str(path.relative_to(package))
        for path in (package / "laneway").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert needed - packed == set()
    assert any(name.endswith(".toml") for name in needed)
    assert any(name.endswith(".txt") for name in needed)
