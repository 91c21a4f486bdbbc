"""Pointing discord.py at the sandbox, and the hook that keeps this process on this machine."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import aiohttp
import discord
import pytest

from bot.sandbox.driver import Sandbox
from bot.sandbox.launch import ConnectionLog, own, point_discord_at, refuse_other_hosts
from bot.sandbox.wire import HostRefused, SandboxError


@pytest.fixture
def log() -> Iterator[ConnectionLog]:
    refusing = refuse_other_hosts()
    yield refusing
    refusing.lift()


@pytest.mark.parametrize("host", [None, "", "localhost", "LOCALHOST", "127.0.0.1", "127.8.9.10", "::1", b"127.0.0.1"])
def test_this_machine_is_its_own(host: object) -> None:
    assert own(host)


@pytest.mark.parametrize("host", ["discord.com", "10.0.0.1", "0.0.0.0", "8.8.8.8", "::", "fe80::1%eth0", "localhost.evil.example", b"a.b"])
def test_every_other_host_is_not(host: object) -> None:
    assert not own(host)


def test_connecting_and_looking_up_elsewhere_is_refused_and_recorded(log: ConnectionLog) -> None:
    with socket.socket() as stream, pytest.raises(HostRefused):
        stream.connect(("192.0.2.1", 443))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagram, pytest.raises(HostRefused):
        datagram.sendto(b"x", ("192.0.2.2", 53))
    with pytest.raises(HostRefused, match="studyhall run"):
        socket.getaddrinfo("discord.com", 443)
    assert log.attempts == ["192.0.2.1:443", "192.0.2.2:53", "discord.com"]
    assert issubclass(HostRefused, SandboxError)


async def test_the_sandbox_itself_works_under_the_hook_and_the_status_counts_refusals(log: ConnectionLog) -> None:
    async with Sandbox() as sandbox, aiohttp.ClientSession() as session:
        sandbox.hosts = log
        async with session.get(f"{sandbox.url}/sandbox/log") as reply:
            assert reply.status == 200
        with pytest.raises((aiohttp.ClientError, OSError)):
            await session.get("http://192.0.2.1/")
        assert sandbox.status()["refused_hosts"] == len(log.attempts) == 1


def test_a_lifted_log_refuses_nothing_more(log: ConnectionLog) -> None:
    log.lift()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagram:
        datagram.connect(("127.0.0.1", 9))
    log.hook("socket.connect", (None, ("192.0.2.1", 443)))
    assert log.attempts == []


def test_discord_py_is_pointed_at_the_given_addresses() -> None:
    before = discord.http.Route.BASE, discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY
    try:
        point_discord_at("http://127.0.0.1:1", "ws://127.0.0.1:1/gateway")
        assert discord.http.Route("GET", "/users/@me").url == "http://127.0.0.1:1/api/v10/users/@me"
        assert str(discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY) == "ws://127.0.0.1:1/gateway"
    finally:
        discord.http.Route.BASE, discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = before
