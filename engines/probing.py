"""Weighs "yes" against "no" in a server's answer of one word: what a probe (`engines.base.Probe`) is asked with, and how it is read.

The words are compared by their probabilities among the likeliest ones that the server lists, not by which came first: a small
model leans to "yes", and how far it leans is what was measured for `Traits.answerable_from`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final, cast

LISTED: Final = 20
"""Words listed with their probabilities; the most that vLLM gives by default."""
FIELDS: Final[Mapping[str, Any]] = {"stream": False, "logprobs": True, "top_logprobs": LISTED}
WEIGHED_LEAST: Final = 0.5
"""What "yes" and "no" must have together: a model that wants to say something else has not answered. 0.96 and more with our models."""


def share_of_yes(completion: object) -> float | None:
    """The share of "yes" in "yes or no", 0..1, from a chat completion; None where the server lists no words, or neither of the two."""
    try:
        listed = cast(Any, completion)["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
        weights = [(str(word["token"]).strip().casefold(), math.exp(min(0.0, float(word["logprob"])))) for word in listed]
    except (LookupError, TypeError, ValueError):
        return None
    yes = sum(weight for word, weight in weights if word == "yes")
    no = sum(weight for word, weight in weights if word == "no")
    return yes / (yes + no) if yes + no >= WEIGHED_LEAST else None
