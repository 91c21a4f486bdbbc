"""How a bot is made to live in the sandbox: discord.py is pointed at it, and every other host is refused.

Both work on this whole process, before the bot starts. Nothing in the bot itself changes or knows.
"""

from __future__ import annotations

import ipaddress
import sys
from typing import Any, Final, cast

from discord.gateway import DiscordWebSocket
from discord.http import Route
from yarl import URL

from bot.sandbox.wire import HostRefused

# audit events that name another machine [docs: Python's audit events table] -> where in their arguments the address is
WATCHED: Final = {
    "socket.connect": 1,
    "socket.sendto": 1,
    "socket.sendmsg": 1,
    "socket.getaddrinfo": 0,
    "socket.gethostbyname": 0,
    "socket.gethostbyaddr": 0,
}
OWN_NAMES: Final = ("", "localhost", "localhost.")


def point_discord_at(url: str, gateway_url: str) -> None:
    """Send every Discord request of this process to the sandbox; call it before a client starts."""
    Route.BASE = f"{url}/api/v10"
    DiscordWebSocket.DEFAULT_GATEWAY = URL(gateway_url)


class ConnectionLog:
    """The hosts this process tried to reach and was refused, oldest first."""

    def __init__(self) -> None:
        self.attempts: list[str] = []
        self._on = True

    def lift(self) -> None:
        """Let this process connect anywhere again. (An audit hook cannot be removed, only told to rest.)"""
        self._on = False

    def hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        position = WATCHED.get(event)
        if position is None or not self._on:
            return
        address = arguments[position]
        if isinstance(address, tuple):  # of an internet socket: host, port, …
            host, port = cast(tuple[Any, ...], address)[:2]
            if not own(host):
                self._refuse(f"{host}:{port}")
        elif event.startswith("socket.get") and not own(address):
            self._refuse(str(address))

    def _refuse(self, host: str) -> None:
        self.attempts.append(host)
        raise HostRefused(f"{host} is not this machine. The sandbox refuses every other host; use `studyhall run` for Discord itself.")


def own(host: Any) -> bool:
    """Is this name or address the machine itself? (Socket families without hosts give None or a path.)"""
    if host is None or not isinstance(host, str | bytes | bytearray):
        return True
    name = host if isinstance(host, str) else bytes(host).decode("ascii", "replace")
    try:
        return ipaddress.ip_address(name.partition("%")[0]).is_loopback
    except ValueError:
        return name.lower() in OWN_NAMES


def refuse_other_hosts() -> ConnectionLog:
    """From now on, connecting to or looking up any other host raises HostRefused in this process; returns the log."""
    log = ConnectionLog()
    sys.addaudithook(log.hook)
    return log
