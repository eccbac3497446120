"""What is fuzzed: everything that reads text from models, files, users and other programs.

A target takes any bytes. It raises for what must not happen: an exception that the parser doesn't name, text that
depends on how it was cut, a round trip that loses something. ``SEEDS`` begin its corpus.
"""

from __future__ import annotations

import io
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

NONCE = "abc123"
OTHER = "xyz789"


@dataclass(frozen=True, slots=True)
class Target:
    run: Callable[[bytes], None]
    modules: tuple[str, ...]
    """Whose branches count as covered."""
    seeds: tuple[bytes, ...]


def text_of(data: bytes) -> str:
    """Every kind of text that Python can hold: half surrogate pairs too."""
    return data.decode("utf-8", "surrogatepass" if b"\xed" in data[:64] else "replace") if _decodes(data) else ""


def _decodes(data: bytes) -> bool:
    try:
        data.decode("utf-8", "surrogatepass" if b"\xed" in data[:64] else "replace")
    except UnicodeDecodeError:
        return False
    return True


def cut(text: str, data: bytes) -> Iterator[str]:
    """The text in pieces whose sizes come from the data itself."""
    at = 0
    for size in (*(byte % 9 + 1 for byte in data[-24:]), len(text) + 1):
        if at >= len(text):
            return
        yield text[at : at + size]
        at += size


def tags(data: bytes) -> None:
    from milk_tui.core.tags import Interceptor, strip_all

    text = text_of(data)

    def read(pieces: Sequence[str]) -> tuple[str, list[object]]:
        interceptor = Interceptor(NONCE, [OTHER])
        shown = "".join([*(interceptor.feed(piece) for piece in pieces), interceptor.close()])
        return shown, list(interceptor.take())

    whole, pieces = read([text]), read(list(cut(text, data)))
    assert whole == pieces, "the result depends on how the answer is cut"
    strip_all(text)


def cleaning(data: bytes) -> None:
    from milk_tui.core.text import StreamCleaner, clean, one_line

    text = text_of(data)
    cleaner = StreamCleaner()
    pieces = [cleaner.feed(piece) for piece in cut(text, data)]
    assert "".join([*pieces, cleaner.close()]) == clean(text), "pieces are cleaned in another way than the whole"
    assert not set(clean(text)) & set("\x00\x07\x08\x1b\x7f\x9b\x9d\u202e\u2066"), "a control character is left"
    assert "\n" not in one_line(text, 80)
    assert clean(clean(text)) == clean(text)


def text_calls(data: bytes) -> None:
    from milk_tui.core.text_tools import TextToolParser, lenient, read_calls

    text = text_of(data)
    names = {"read_file", "grep"}

    def read(pieces: Sequence[str]) -> tuple[str, list[object]]:
        parser = TextToolParser(names)
        return "".join([*(parser.feed(piece) for piece in pieces), parser.close()]), list(parser.calls)

    assert read([text]) == read(list(cut(text, data))), "the result depends on how the answer is cut"
    read_calls(text, frozenset(names), trusted=True, whole=False)
    lenient(text)


def code(data: bytes) -> None:
    from milk_tui.core.tags import StreamMask, mask

    text = text_of(data)
    masker = StreamMask([NONCE])
    pieces = [masker.feed(piece) for piece in cut(text, data)]
    assert "".join([*pieces, masker.close()]) == mask(text, [NONCE])


def perception_file(data: bytes) -> None:
    from milk_tui.core import perception_file as files
    from milk_tui.core.text import clean

    text = text_of(data)
    document = files.parse(text)
    assert files.render(document) == clean(text), "a line was lost"
    read = files.entries(document)
    again = files.entries(files.parse(files.render(files.updated(document, read))))
    assert {(e.layer, e.key, e.value) for e in again} == {(e.layer, e.key, e.value) for e in read}


def dense(data: bytes) -> None:
    from milk_tui.core import perception_dense

    perception_dense.parse(text_of(data))
    perception_dense.parse(f"work{{{text_of(data)}}}")


def decision(data: bytes) -> None:
    from milk_tui.core import decision_record

    record = decision_record.parse("2026-01-02-one.md", data)
    decision_record.first_sentences(record, 300)
    decision_record.file_name(text_of(data), "2026-01-02", ["2026-01-02-a.md"])


def helper_answer(data: bytes) -> None:
    from milk_tui.core import helper_answer as answers

    with suppress(answers.BadAnswerError):
        answers.check(text_of(data), {"a.md": answers.Given("a.md", "2026-01-02")}, may_send=True, max_bytes=4_000)


def helper_profile(data: bytes) -> None:
    from milk_tui.core import helper_profile as profiles

    profiles.read(text_of(data))


def config(data: bytes) -> None:
    from milk_tui.config_file import check, parse
    from milk_tui.core.errors import MilkError

    with suppress(MilkError):
        found, _ = parse(text_of(data), "config.toml")
        check(found, "config.toml")


def secrets(data: bytes) -> None:
    from milk_tui.core import secret_scan

    text = text_of(data)
    if secret_scan.secret_kind(text):
        assert secret_scan.masked(text) != text, "a secret that is seen is not masked"


def statements(data: bytes) -> None:
    from milk_tui.core import comparison, statements, values

    old, _, new = text_of(data).partition("\n")
    values.find(old)
    comparison.compare(statements.parse(new), statements.parse(old))


def mentions(data: bytes) -> None:
    from milk_tui.core import attachments

    text = text_of(data)
    for mention in attachments.mentions(text):
        assert mention.path
    for at in range(0, min(len(text), 40)):
        attachments.mention_at(text, at)


def memory_list(data: bytes) -> None:
    from milk_tui.interop import memory_lists

    text = text_of(data)
    memory_lists.parse(text)
    memory_lists.parse(text, prose=True)


def memory_lines(data: bytes) -> None:
    from milk_tui.interop import memory_lines as lines

    with suppress(lines.FileRefusedError):
        lines.read(io.BytesIO(data), "memory.jsonl", columns=["content", "weight", "pinned", "scope"])


def foreign(data: bytes) -> None:
    from milk_tui.core.errors import MilkError
    from milk_tui.interop import foreign_chats, foreign_claude, foreign_milk

    folder = Path(tempfile.mkdtemp(prefix="milk-tui-fuzz-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
    try:
        (folder / "projects" / "p").mkdir(parents=True)
        (folder / "projects" / "p" / "one.jsonl").write_bytes(data)
        (folder / "conversations.json").write_bytes(data)
        (folder / "sessions").mkdir()
        (folder / "sessions" / "one.json").write_bytes(data)
        (folder / "chat.db").write_bytes(data)
        for read in (
            lambda: foreign_claude.sessions(folder),
            lambda: foreign_chats.chatgpt(folder),
            lambda: foreign_milk.sessions(folder),
            lambda: foreign_chats.elia(folder / "chat.db"),
            lambda: foreign_chats.oterm(folder / "chat.db"),
        ):
            with suppress(MilkError):
                list(read())
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def hook(data: bytes) -> None:
    from milk_tui.interop import hook_payload

    hook_payload.read(data, {})


def mcp(data: bytes) -> None:
    from milk_tui.interop import mcp_protocol

    for line in data.split(b"\n"):
        mcp_protocol.read(line)


def json_edit(data: bytes) -> None:
    from milk_tui.interop import json_edit as edit

    text = text_of(data)
    with suppress(edit.NotJson):
        node = edit.parse(text)
        if isinstance(edit.plain(node), dict):
            added = edit.insert(text, node, {"x": 1}, "milk-key")
            assert json.loads(added)["milk-key"] == {"x": 1}


def host_lines(data: bytes) -> None:
    import msgspec

    from milk_tui.modelhost import protocol
    from milk_tui.modelhost.lines import LineCutter

    cutter = LineCutter(4_096)
    for line in cutter.feed(data):
        for decode in (protocol.decode_answer, protocol.decode_request):
            with suppress(msgspec.DecodeError, ValueError):
                decode(line)


def transcript(data: bytes) -> None:
    from milk_tui.core.text import clean
    from milk_tui.ui.transcript.splitter import Splitter

    text = clean(text_of(data))
    whole, pieces = Splitter(), Splitter()
    whole.feed(text)
    whole.advance(final=True)
    for piece in cut(text, data):
        pieces.feed(piece)
        pieces.advance()
    pieces.advance(final=True)
    blocks = [[(s.kind, text[s.start : s.end].rstrip()) for s in splitter.spans] for splitter in (whole, pieces)]
    assert blocks[0] == blocks[1], "the blocks depend on how the text came"


def command(data: bytes) -> None:
    from milk_tui.tools import command_words

    text = text_of(data)
    command_words.pattern_of(text)
    command_words.waits_for_person(text)


def grant(data: bytes) -> None:
    from milk_tui.core import grants

    text = text_of(data)
    grants.canonical(text)


TAGS = (
    f"<milk:percept:{NONCE}>a fact</milk:percept:{NONCE}> text".encode(),
    f"```\n<milk:need:{NONCE}>x</milk:need:{NONCE}>\n```\n`<milk:brief:{OTHER}>`".encode(),
    f"<milk:perception:{NONCE}>frame\nslice: x</milk:perception:{NONCE}".encode(),
)
TARGETS: dict[str, Target] = {
    "tags": Target(tags, ("milk_tui.core.tags", "milk_tui.core.markdown_code"), TAGS),
    "mask": Target(code, ("milk_tui.core.tags",), TAGS),
    "cleaning": Target(
        cleaning, ("milk_tui.core.text",), ("a\x1b[31mb\x1b]52;c;eA==\x07\u202e👩‍👩‍👧".encode(), b"\x9b31m\x00\r\n")
    ),
    "text-calls": Target(
        text_calls,
        ("milk_tui.core.text_tools",),
        (b'<tool_call>{"name":"read_file","arguments":{"path":"a"}}</tool_call>', b'```json\n{"name": "grep"}\n```'),
    ),
    "perception-file": Target(
        perception_file,
        ("milk_tui.core.perception_file", "milk_tui.core.perception"),
        (b"# x\n## Frame\n- slice: a\n<!-- c -->\n## Working set\nwork{f:a}\n", b"## Invariants\n- a [reason: x]\n"),
    ),
    "dense": Target(dense, ("milk_tui.core.perception_dense",), (b"work{f:src/a.py;n:[x|y]}", b"f:\\Th~2%")),
    "decision": Target(
        decision, ("milk_tui.core.decision_record",), (b"---\ntitle: x\nsupersedes: a.md\n---\n# T\ntext",)
    ),
    "helper-answer": Target(
        helper_answer,
        ("milk_tui.core.helper_answer",),
        (b'{"action":"send_message","message":"See a.md.","citations":["a.md"]}', b'{"action":"none"}'),
    ),
    "helper-profile": Target(
        helper_profile, ("milk_tui.core.helper_profile",), (b"---\nname: x\nsignals: [task.started]\n---\nDo.",)
    ),
    "config": Target(
        config, ("milk_tui.config_file",), (b'[agents.a]\nmodel = "x"\nrole = "primary"\n[keys]\nsend=["f9"]',)
    ),
    "secrets": Target(
        secrets, ("milk_tui.core.secret_scan",), (b"key sk-" + b"a1B2" * 12, b"-----BEGIN " + b"PRIVATE KEY-----\nx")
    ),
    "statements": Target(
        statements,
        (
            "milk_tui.core.statements",
            "milk_tui.core.comparison",
            "milk_tui.core.values",
            "milk_tui.core.sentence_parts",
        ),
        (b"The port is 80.\nThe port is 8080 now.", b"We use Postgres\nWe no longer use Postgres"),
    ),
    "mentions": Target(mentions, ("milk_tui.core.attachments",), (b'see @a/b.py:3-9 and @"a b.txt" @~x',)),
    "memory-list": Target(
        memory_list, ("milk_tui.interop.memory_lists",), (b"---\nname: x\n---\n# A\n- b:\n  - c\n1. d\n~~e~~",)
    ),
    "memory-lines": Target(
        memory_lines, ("milk_tui.interop.memory_lines",), (b'{"kind":"milk-memory","version":1}\n{"id":"a"}\n',)
    ),
    "foreign": Target(
        foreign,
        (
            "milk_tui.interop.foreign",
            "milk_tui.interop.foreign_chats",
            "milk_tui.interop.foreign_claude",
            "milk_tui.interop.foreign_milk",
            "milk_tui.interop.foreign_files",
        ),
        (
            b'{"type":"user","message":{"role":"user","content":"hi"},"uuid":"a","timestamp":"2026-01-01T00:00:00Z"}\n',
            b'[{"title":"x","mapping":{"a":{"message":{"author":{"role":"user"},"content":{"parts":["hi"]}},"parent":null}}}]',
            b'{"id":"x","history":[{"role":"user","content":"hi"}],"created_at":1}',
        ),
    ),
    "hook": Target(
        hook,
        ("milk_tui.interop.hook_payload",),
        (b'{"hook_event_name":"UserPromptSubmit","session_id":"a","prompt":"x"}',),
    ),
    "mcp": Target(
        mcp, ("milk_tui.interop.mcp_protocol",), (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}', b"[]")
    ),
    "json-edit": Target(json_edit, ("milk_tui.interop.json_edit",), (b'{"a": [1, {"b": null}], "c": "\\u00e9"}',)),
    "host-lines": Target(
        host_lines, ("milk_tui.modelhost.protocol", "milk_tui.modelhost.lines"), (b'{"ev":"text","id":1,"text":"x"}\n',)
    ),
    "transcript": Target(
        transcript,
        ("milk_tui.ui.transcript.splitter",),
        (
            b"# h\n\n- a\n  - b\n\n```py\nx\n```\n| a |\n|---|\n| b |\n\n[a]: http://x\n",
            b"# a |\n|-\n|h\n |\n```pa |\n|---|\n| a|\n x\n```\n",
            b"- h#  a |\nh\n\n- # |\n--|\n b\n",
        ),
    ),
    "command": Target(
        command, ("milk_tui.tools.command_words",), (b"git status; rm -rf $(x) && A=1 sudo -S y | z > /a",)
    ),
    "grant": Target(grant, ("milk_tui.core.grants",), (b'{"b":1,"a":[true,null,1e999]}',)),
}
