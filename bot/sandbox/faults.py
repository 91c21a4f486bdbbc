"""The switches that make the sandbox misbehave as Discord sometimes does.

Plain values that the server and the gateway look at; what happens once (reconnect, invalid session, abort) is a method of
`bot.sandbox.gateway.Gateway`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from bot.sandbox.wire import Json, Refused


@dataclass(slots=True)
class FaultSwitches:
    drop_acks: bool = False  # heartbeats get no answer
    fail_next: int = 0  # this many API requests are answered with `fail_status` and do nothing
    fail_status: int = 502
    slow_replies_s: float = 0.0  # every API reply is held back this long after the work is done

    def json(self) -> Json:
        return asdict(self)

    def set(self, values: Json) -> None:
        """Set switches from JSON; raises Refused for an unknown one or a value out of bounds."""
        fresh = self.json()
        for key, value in values.items():
            if key not in fresh:
                raise Refused(f"no fault switch {key!r}; there is {', '.join(fresh)}")
            wanted = {"drop_acks": bool, "slow_replies_s": int | float}.get(key, int)
            if not isinstance(value, wanted) or isinstance(value, bool) != (wanted is bool):
                raise Refused(f"{key} cannot be {value!r}")
            fresh[key] = value
        if not 500 <= fresh["fail_status"] <= 599 or fresh["fail_next"] < 0 or not 0 <= fresh["slow_replies_s"] <= 30:
            raise Refused("fail_status is 500 to 599, fail_next at least 0, slow_replies_s 0 to 30")
        for key, value in fresh.items():
            setattr(self, key, value)
