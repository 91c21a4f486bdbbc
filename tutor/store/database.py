"""One SQLite file, opened on one thread of its own, with numbered migrations.

Blocking calls never run on the event loop: `Database.run` hands a function to the database thread and awaits it. WAL
with `synchronous=FULL`, so what `run` returned from is on the disk. Before a migration touches a file that already
holds data, the file is copied beside itself (`studyhall.db.before-0002`).

Errors: every sqlite3 error leaves as `StoreError`, one line that says what to do.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import resources
from pathlib import Path
from typing import Any, Final, Self, TypeVar, cast

from sqlite_utils import Database as Connection
from sqlite_utils.migrations import Migrations

from tutor.errors import StoreError

T = TypeVar("T")

MIGRATIONS: Final = "studyhall"
_BUSY_TIMEOUT_S: Final = 5.0


class Database:
    """Open with `await Database.open(path)`; close with `await database.close()`."""

    def __init__(self, path: Path, connection: Connection, thread: ThreadPoolExecutor) -> None:
        self.path = path
        self._connection = connection
        self._thread = thread

    @classmethod
    async def open(cls, path: Path) -> Self:
        """Open or create the file and bring its schema up to date; raises StoreError."""
        thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="database")
        try:
            connection = await asyncio.get_running_loop().run_in_executor(thread, _opened, path)
        except BaseException:
            thread.shutdown(wait=False)
            raise
        return cls(path, connection, thread)

    async def run(self, work: Callable[[Connection], T]) -> T:
        """Run `work` in one transaction on the database thread: all of it is on the disk when this returns, or none."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._transaction, work)

    def _transaction(self, work: Callable[[Connection], T]) -> T:
        try:
            with self._connection.atomic():
                return work(self._connection)
        except sqlite3.Error as error:
            raise _explained(self.path, error) from error

    async def close(self) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, self._connection.close)
        self._thread.shutdown(wait=True)


def _opened(path: Path) -> Connection:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        raw = sqlite3.connect(path, timeout=_BUSY_TIMEOUT_S, check_same_thread=True)
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror or error}. Choose a folder this user may write to (settings: database).") from error
    except sqlite3.Error as error:
        raise _explained(path, error) from error
    try:
        connection = Connection(raw)
        connection.enable_wal()
        for pragma in ("synchronous = FULL", "foreign_keys = ON"):
            write(connection, f"PRAGMA {pragma}")
        _migrate(path, connection)
    except sqlite3.Error as error:
        raw.close()
        raise _explained(path, error) from error
    except BaseException:
        raw.close()
        raise
    return connection


def migration_files() -> list[tuple[str, str]]:
    """(number and name, SQL) of every migration, in order."""
    folder = resources.files("tutor").joinpath("migrations")
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    return [(name.removesuffix(".sql"), folder.joinpath(name).read_text("utf-8")) for name in names]


def _migrate(path: Path, connection: Connection) -> None:
    migrations = Migrations(MIGRATIONS)
    for name, sql in migration_files():
        migrations(name=name)(_runner(sql))
    applied = {migration.name for migration in migrations.applied(connection)}
    newer = applied - {name for name, _ in migration_files()}
    if newer:
        raise StoreError(f"{path}: was written by a newer Studyhall (it has {max(newer)}). Update Studyhall, or use another database file.")
    for name, _ in migration_files():
        if name in applied:
            continue
        if applied:  # an empty file needs no copy
            _back_up(path, connection, name)
        following = [later for later, _ in migration_files() if later > name]
        migrations.apply(connection, stop_before=following[:1])
        applied.add(name)


def _runner(sql: str) -> Callable[[Connection], None]:
    def run(connection: Connection) -> None:
        for statement in statements(sql):
            write(connection, statement)

    return run


def statements(sql: str) -> list[str]:
    """The statements of a script one by one: `executescript` would commit the transaction they must share."""
    found: list[str] = []
    pending = ""
    for line in sql.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            found.append(pending.strip())
            pending = ""
    return [*found, pending.strip()] if pending.strip() else found


def _back_up(path: Path, connection: Connection, name: str) -> None:
    copy = path.with_name(f"{path.name}.before-{name.partition('_')[0]}")
    with sqlite3.connect(copy) as target:
        connection.conn.backup(target)
    target.close()


def _explained(path: Path, error: sqlite3.Error) -> StoreError:
    text = str(error)
    if "disk is full" in text or "disk I/O" in text:
        remedy = "Free some space on that disk; nothing that was acknowledged is lost."
    elif "readonly" in text or "unable to open" in text:
        remedy = "Give this user the right to write the file and its folder, or set another path (settings: database)."
    elif "not a database" in text or "malformed" in text:
        remedy = "The file is damaged: move it away, put a backup in its place (….before-NNNN), and start again."
    elif "locked" in text:
        remedy = "Another program holds the file: stop the second bot, or wait for the backup to finish."
    else:
        remedy = "See the log for the statement; if it repeats, report it."
    return StoreError(f"{path}: {text}. {remedy}")


Row = Mapping[str, Any]


def write(connection: Connection, sql: str, parameters: Sequence[Any] = ()) -> int:
    """Run one statement; returns how many rows it changed. The transaction is the caller's (`Database.run`)."""
    cursor = connection.execute(sql, parameters)  # pyright: ignore[reportUnknownMemberType]  # Sequence without type arguments
    return cursor.rowcount


def rows(connection: Connection, sql: str, parameters: Sequence[Any] | dict[str, Any] = ()) -> list[Row]:
    """All rows, by column name. sqlite-utils leaves the values untyped; they become values one step further on."""
    found = connection.query(sql, parameters)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]  # dict without type arguments
    return list(cast("Iterable[Row]", found))


def first(connection: Connection, sql: str, parameters: Sequence[Any] | dict[str, Any] = ()) -> Row | None:
    return next(iter(rows(connection, sql, parameters)), None)
