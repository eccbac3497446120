"""The process that knows what facts mean: it holds the embedding model and all vectors, and answers questions.

``python -m milk_tui.recall.worker DATABASE [MODEL]``, spoken to by ``recall/semantic.py``. Beside the program, since
loading and using the model would make its screen wait, and its memory is only needed where the extra is installed.
Between questions it embeds facts that have no vector yet, one at a time, so that no question waits for more than one.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import msgspec

from milk_tui.core.errors import MilkError
from milk_tui.recall import protocol
from milk_tui.recall.encoder import MODEL, Encoder, SemanticMissingError, locate
from milk_tui.recall.protocol import Nearest
from milk_tui.store import Store, vectors

if TYPE_CHECKING:
    from milk_tui.recall.encoder import Vector
    from milk_tui.store.vectors import Unembedded

WRITE_AFTER = 16
"""Vectors that are stored at once; those that wait are lost in a crash and made again."""
TELL_AFTER = 64
KEPT_TEXTS = 4_096
_COMPARED_TEXTS = 64


class Worker:
    """Questions and facts of one database. ``tell`` takes what the program is to know."""

    def __init__(self, store: Store, encoder: Encoder, tell: BinaryIO) -> None:
        from milk_tui.recall.matrix import Matrix

        self._store = store
        self._encoder = encoder
        self._tell = tell
        self._matrix = Matrix(lambda seqs: store.read_sync(lambda conn: vectors.some(conn, MODEL, seqs)))
        self._questions: OrderedDict[str, Vector] = OrderedDict()
        self._waiting: dict[int, None] = {}
        self._made: list[tuple[Unembedded, bytes]] = []
        self._unsettled: list[int] = []
        self._event = 0
        self._vector = 0
        self._told = (-1, -1)
        self._since_told = 0

    @property
    def busy(self) -> bool:
        """True while facts wait for their vectors."""
        return bool(self._waiting or self._made)

    def load(self) -> None:
        """Bring all vectors into memory and find the facts that have none."""
        self._event = self._store.read_sync(vectors.last_event)
        self._take_stored()
        self._waiting = dict.fromkeys(self._store.read_sync(lambda conn: vectors.missing(conn, MODEL)))
        """In the order in which they came; the last is embedded first."""
        self._say()

    def answer(self, request: protocol.Request) -> None:
        match request:
            case protocol.Hint(text):
                self._question(text)
            case protocol.Ask(id, text) if not self._encoder.reads(text):
                self._send(protocol.Answer(id, Nearest([], [])))
            case protocol.Ask():
                self._sync()
                nearest = self._matrix.nearest(
                    self._question(request.text),
                    session_id=request.session_id,
                    reader=request.reader,
                    limit=request.limit,
                    among=request.among,
                )
                self._send(protocol.Answer(request.id, nearest))
            case protocol.Compare(id, text, texts):
                question = self._question(text)
                cosines = [round(float(self._question(each) @ question), 4) for each in texts[:_COMPARED_TEXTS]]
                self._send(protocol.Compared(id, cosines))
            case protocol.Wake():
                self._sync()
            case protocol.Settle(id):
                self._sync()
                self._unsettled.append(id)
                self._settle()

    def embed_next(self) -> None:
        """Make the vector of one fact, the newest that waits, and store what is enough."""
        from milk_tui.recall import matrix

        if self._waiting:
            seq, _ = self._waiting.popitem()
            for fact in self._store.read_sync(lambda conn: vectors.texts(conn, [seq])):
                vector = self._encoder.encode_fact(fact.content, fact.source, fact.context)
                self._matrix.put(fact.place, vector)
                self._made.append((fact, matrix.pack(vector)))
        if len(self._made) >= WRITE_AFTER or not self._waiting:
            self.store_made()
        self._since_told += 1
        if not self.busy or self._since_told >= TELL_AFTER:
            self._say()
        self._settle()

    def store_made(self) -> None:
        """Store the vectors that were made; in a database that can't be written they live as long as the worker."""
        made, self._made = self._made, []
        if not made or self._store.read_only:
            return
        try:
            last = self._store.write_sync(lambda db: vectors.put(db, MODEL, made))
        except MilkError:
            return
        self._vector = max(self._vector, last)

    def _sync(self) -> None:
        """Learn what has changed since the last time."""
        newest = self._store.read_sync(vectors.last_event)
        if newest == self._event:
            return
        self._encoder.leave_out(self._store.read_sync(vectors.names))
        held, gone = self._store.read_sync(lambda conn: vectors.changed(conn, self._event, newest))
        self._event = newest
        for seq in gone:
            self._matrix.drop(seq)
            self._waiting.pop(seq, None)
        self._take_stored()
        seqs = [place.seq for place in held]
        stored = self._store.read_sync(lambda conn: vectors.having(conn, MODEL, seqs))
        unsaved = {fact.place.seq for fact, _ in self._made}
        for place in held:
            if place.seq in stored:
                self._matrix.move(place)
            elif place.seq not in unsaved:
                self._matrix.drop(place.seq)
                self._waiting[place.seq] = None

    def _take_stored(self) -> None:
        from milk_tui.recall import matrix

        after = self._vector
        for number, place, blob in self._store.read_sync(lambda conn: list(vectors.stored(conn, MODEL, after=after))):
            self._vector = number
            try:
                self._matrix.put(place, matrix.unpack(blob))
            except ValueError:
                continue
            self._waiting.pop(place.seq, None)

    def _question(self, text: str) -> Vector:
        vector = self._questions.pop(text, None)
        if vector is None:
            vector = self._encoder.encode(text)
        self._questions[text] = vector
        if len(self._questions) > KEPT_TEXTS:
            self._questions.popitem(last=False)
        return vector

    def _settle(self) -> None:
        while self._unsettled and not self.busy:
            self._send(protocol.Settled(self._unsettled.pop()))

    def _say(self) -> None:
        self._since_told = 0
        numbers = len(self._matrix), len(self._waiting)
        if numbers != self._told:
            self._told = numbers
            self._send(protocol.Ready(*numbers))

    def _send(self, reply: protocol.Reply) -> None:
        self._tell.write(protocol.line(reply))
        self._tell.flush()


def serve(database: Path, model_path: str, asked: BinaryIO, tell: BinaryIO) -> None:
    """Answer until ``asked`` ends."""
    try:
        path = locate(model_path)
        store = Store.open(database)
        encoder = Encoder(path, store.read_sync(vectors.names))
    except MilkError as error:
        tell.write(protocol.line(protocol.Unavailable(error.what, error.hint)))
        tell.flush()
        return
    lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(asked, lines), daemon=True).start()
    worker = Worker(store, encoder, tell)
    try:
        worker.load()
        while True:
            try:
                line = lines.get(block=not worker.busy)
            except queue.Empty:
                worker.embed_next()
                continue
            if line is None:
                worker.store_made()
                return
            try:
                request = protocol.request(line)
            except msgspec.MsgspecError:
                continue
            worker.answer(request)
    finally:
        store.close()


def _read(asked: BinaryIO, lines: queue.SimpleQueue[bytes | None]) -> None:
    for line in asked:
        lines.put(line)
    lines.put(None)


def main() -> None:
    """What libraries print goes nowhere: standard output belongs to the program."""
    tell = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        serve(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "", sys.stdin.buffer, tell)
    except BrokenPipeError:
        pass
    except Exception as error:
        what = error.what if isinstance(error, SemanticMissingError) else f"{type(error).__name__}: {error}"
        tell.write(protocol.line(protocol.Unavailable(what, "Run: milk-tui doctor")))
        tell.flush()
        sys.exit(1)


if __name__ == "__main__":
    main()
