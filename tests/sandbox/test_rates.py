"""Rate limits as plain state: windows, what a refusal says, and what is counted."""

from __future__ import annotations

from bot.sandbox.rates import UNLIMITED, Ask, RateLimiter, Rates

NOW = 1_700_000_000.0
CHANNEL = Ask("channel messages", "1", (5, 5.0))


def test_five_requests_pass_in_a_window_and_the_sixth_waits_for_its_end() -> None:
    limiter = RateLimiter(Rates())
    remaining = [limiter.check([CHANNEL], NOW + n / 10, counts_globally=True).headers["X-RateLimit-Remaining"] for n in range(5)]
    refused = limiter.check([CHANNEL], NOW + 1, counts_globally=True)
    assert remaining == ["4", "3", "2", "1", "0"]
    assert refused.retry_after_s == 4.0
    assert refused.body == {"message": "You are being rate limited.", "retry_after": 4.0, "global": False}
    assert refused.headers.keys() >= {
        "Retry-After",
        "X-RateLimit-Scope",
        "X-RateLimit-Reset",
        "X-RateLimit-Reset-After",
        "X-RateLimit-Bucket",
    }
    assert limiter.check([CHANNEL], NOW + 5, counts_globally=True).retry_after_s is None


def test_channels_have_buckets_of_their_own_under_one_name() -> None:
    limiter = RateLimiter(Rates())
    first = limiter.check([CHANNEL], NOW, counts_globally=True)
    other = limiter.check([Ask("channel messages", "2", (5, 5.0))], NOW, counts_globally=True)
    assert first.headers["X-RateLimit-Bucket"] == other.headers["X-RateLimit-Bucket"]
    assert other.headers["X-RateLimit-Remaining"] == "4"


def test_the_51st_request_of_a_second_is_refused_globally_but_interactions_do_not_count() -> None:
    limiter = RateLimiter(Rates())
    for _ in range(200):
        assert limiter.check([], NOW, counts_globally=False).retry_after_s is None
    for _ in range(50):
        assert limiter.check([], NOW, counts_globally=True).retry_after_s is None
    refused = limiter.check([], NOW, counts_globally=True)
    assert (refused.scope, refused.body["global"], refused.headers["X-RateLimit-Global"]) == ("global", True, "true")
    assert limiter.check([], NOW, counts_globally=False).retry_after_s is None


def test_a_refused_request_uses_up_no_other_bucket() -> None:
    limiter = RateLimiter(Rates(global_requests=None))
    tight = Ask("old edits", "1", (1, 20.0), code=30046)
    assert limiter.check([CHANNEL, tight], NOW, counts_globally=True).headers["X-RateLimit-Remaining"] == "4"
    refused = limiter.check([CHANNEL, tight], NOW, counts_globally=True)
    assert (refused.code, refused.body["code"], refused.retry_after_s) == (30046, 30046, 20.0)
    assert limiter.check([CHANNEL], NOW, counts_globally=True).headers["X-RateLimit-Remaining"] == "3"


def test_shared_429s_do_not_count_as_invalid_and_old_ones_are_forgotten() -> None:
    limiter = RateLimiter(Rates())
    for status, shared in ((401, False), (403, False), (404, False), (429, False), (429, True)):
        limiter.count_invalid(status, NOW, shared=shared)
    assert limiter.invalid_requests(NOW) == 3
    assert limiter.invalid_requests(NOW + 601) == 0


def test_unlimited_means_no_headers_and_no_refusals() -> None:
    limiter = RateLimiter(UNLIMITED)
    assert all(limiter.check([], NOW, counts_globally=True).headers == {} for _ in range(500))


def test_expired_buckets_are_dropped() -> None:
    limiter = RateLimiter(Rates())
    for number in range(5_000):
        limiter.check([Ask("webhook", str(number), (5, 2.0))], NOW + number, counts_globally=False)
    assert limiter.buckets_kept < 2_100
