"""Discord's rate limits as plain state: a request and the time go in, a verdict with its headers comes out.

A bucket is a fixed window that opens with its first request. What Discord documents is on; what bots merely report has
defaults that a test may change through `Rates`. No clock in here: `now` is seconds since 1970.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from hashlib import blake2s
from math import ceil
from typing import Literal

from bot.sandbox import limits
from bot.sandbox.wire import Json

Limit = tuple[int, float]
"""So many requests in so many seconds."""

Scope = Literal["user", "global", "shared"]
FORGET_ABOVE = 2_000  # buckets kept before the expired ones are dropped


@dataclass(frozen=True, slots=True)
class Rates:
    """The limits in force. None switches one off."""

    global_requests: Limit | None = limits.GLOBAL_REQUESTS
    channel_messages: Limit | None = limits.CHANNEL_MESSAGES
    webhook: Limit | None = limits.WEBHOOK_REQUESTS
    webhook_shared: Limit | None = None
    old_edits: Limit | None = limits.OLD_EDITS
    other: Limit | None = limits.OTHER_REQUESTS


UNLIMITED = Rates(None, None, None, None, None, None)
"""For tests of something else; a benchmark that uses it says nothing about Discord."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One bucket that a request draws from: `name` says which rule (the same for all channels), `key` which instance."""

    name: str
    key: str
    limit: Limit
    scope: Scope = "user"
    code: int | None = None


@dataclass(slots=True)
class Bucket:
    remaining: int
    resets_at: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """`retry_after_s` is None when the request may pass."""

    headers: dict[str, str]
    retry_after_s: float | None = None
    scope: Scope = "user"
    code: int | None = None

    @property
    def body(self) -> Json:
        body: Json = {
            "message": "You are being rate limited.",
            "retry_after": round(self.retry_after_s or 0, 3),
            "global": self.scope == "global",
        }
        return body | ({"code": self.code} if self.code is not None else {})


class RateLimiter:
    def __init__(self, rates: Rates) -> None:
        self.rates = rates
        self.hits = 0  # requests answered with 429
        self._buckets: dict[tuple[str, str], Bucket] = {}
        self._invalid: deque[float] = deque()
        self._hashes: dict[str, str] = {}

    @property
    def buckets_kept(self) -> int:
        return len(self._buckets)

    def check(self, asks: list[Ask], now: float, *, counts_globally: bool) -> Verdict:
        """Draw one request from every bucket asked for, the global one too if it counts there.

        The first ask is the one the headers tell about. A refused request uses up nothing.
        """
        buckets: list[tuple[Ask, Bucket]] = []
        if counts_globally and self.rates.global_requests is not None:
            asks = [*asks, Ask("global", "", self.rates.global_requests, "global")]
        for ask in asks:
            bucket = self._bucket(ask, now)
            if bucket.remaining <= 0:
                self.hits += 1
                return self._refusal(ask, bucket, now)
            buckets.append((ask, bucket))
        for _, bucket in buckets:
            bucket.remaining -= 1
        if not buckets or buckets[0][0].scope == "global":
            return Verdict({})
        return Verdict(self._headers(*buckets[0], now))

    def count_invalid(self, status: int, now: float, *, shared: bool) -> None:
        """Keep the count that Discord bans an address for: 401, 403 and 429 (a shared 429 is not counted)."""
        if status in (401, 403, 429) and not shared:
            self._invalid.append(now)

    def invalid_requests(self, now: float) -> int:
        """Invalid requests of the last ten minutes; Discord bans above `limits.INVALID_REQUESTS`."""
        while self._invalid and self._invalid[0] <= now - limits.INVALID_REQUESTS[1]:
            self._invalid.popleft()
        return len(self._invalid)

    def _bucket(self, ask: Ask, now: float) -> Bucket:
        where = (ask.name, ask.key)
        bucket = self._buckets.get(where)
        if bucket is None or now >= bucket.resets_at:
            if len(self._buckets) > FORGET_ABOVE:
                self._buckets = {key: kept for key, kept in self._buckets.items() if now < kept.resets_at}
            bucket = self._buckets[where] = Bucket(ask.limit[0], now + ask.limit[1])
        return bucket

    def _headers(self, ask: Ask, bucket: Bucket, now: float) -> dict[str, str]:
        name = self._hashes.get(ask.name)
        if name is None:
            name = self._hashes[ask.name] = blake2s(ask.name.encode(), digest_size=16).hexdigest()
        return {
            "X-RateLimit-Limit": str(ask.limit[0]),
            "X-RateLimit-Remaining": str(bucket.remaining),
            "X-RateLimit-Reset": f"{bucket.resets_at:.3f}",
            "X-RateLimit-Reset-After": f"{max(0.0, bucket.resets_at - now):.3f}",
            "X-RateLimit-Bucket": name,
        }

    def _refusal(self, ask: Ask, bucket: Bucket, now: float) -> Verdict:
        # rounded up to a millisecond: a client that waits exactly as long as told must not come too early
        wait = ceil((bucket.resets_at - now) * 1000) / 1000
        headers = {"Retry-After": str(ceil(wait)), "X-RateLimit-Scope": ask.scope}
        if ask.scope == "global":
            headers["X-RateLimit-Global"] = "true"
        else:
            headers |= self._headers(ask, bucket, now)
        return Verdict(headers, wait, ask.scope, ask.code)
