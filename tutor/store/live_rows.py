"""Live rounds as rows and back. Only `tutor.store.live` uses this."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Final

from content.model import Quiz
from tutor.grading import Response, from_json, to_json
from tutor.live import NO_LIMIT, Asking, LiveRound, Phase, Rules, Scheme, Window
from tutor.live_repair import Fix, Repair
from tutor.scoring import Press, Seat
from tutor.store.database import Row

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)


def milliseconds(at: datetime) -> int:
    return (at - _EPOCH) // _MILLISECOND


def moment(value: int) -> datetime:
    return _EPOCH + value * _MILLISECOND


def _iso(at: datetime | None) -> str | None:
    return at.isoformat() if at else None


def _at(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def rules_json(rules: Rules) -> str:
    return json.dumps(asdict(rules))


def state_json(round_: LiveRound) -> str:
    """What changes while the round runs, but for the phase."""
    return json.dumps(
        {
            "phase_at": _iso(round_.phase_at),
            "paused_at": _iso(round_.paused_at),
            "board_shown": round_.board_shown,
            "extensions": round_.extensions,
            "boards": round_.boards,
            "outage_s": round_.outage_s,
            "askings": [
                {
                    "position": asking.position,
                    "vote": asking.vote,
                    "windows": [[_iso(window.opened_at), _iso(window.closes_at)] for window in asking.windows],
                    "allotted_s": asking.allotted_s,
                    "closed": asking.closed,
                    "revealed_at": _iso(asking.revealed_at),
                    "skipped": asking.skipped,
                }
                for asking in round_.askings
            ],
        }
    )


def round_of(row: Row, quiz: Quiz, repairs: tuple[Repair, ...]) -> LiveRound:
    state: dict[str, Any] = json.loads(row["state"])
    rules: dict[str, Any] = json.loads(row["rules"])
    rules["scheme"] = Scheme(rules["scheme"])
    return LiveRound(
        id=row["id"],
        guild_id=row["guild_id"],
        channel_id=row["channel_id"],
        host_id=row["host_id"],
        quiz=quiz,
        language=row["language"],
        rules=Rules(**rules),
        seed=row["seed"],
        created_at=datetime.fromisoformat(row["created_at"]),
        phase=Phase(row["phase"]),
        phase_at=_at(state["phase_at"]),
        askings=tuple(_asking(entry) for entry in state["askings"]),
        paused_at=_at(state["paused_at"]),
        board_shown=state["board_shown"],
        extensions=state["extensions"],
        boards=state["boards"],
        outage_s=state["outage_s"],
        ended_at=_at(row["ended_at"]),
        repairs=repairs,
    )


def _asking(entry: dict[str, Any]) -> Asking:
    return Asking(
        position=entry["position"],
        vote=entry["vote"],
        windows=tuple(Window(datetime.fromisoformat(opened), _at(closes)) for opened, closes in entry["windows"]),
        allotted_s=entry["allotted_s"],
        closed=entry["closed"],
        revealed_at=_at(entry["revealed_at"]),
        skipped=entry["skipped"],
    )


def repair_of(row: Row) -> Repair:
    return Repair(
        position=row["position"],
        fix=Fix(row["fix"]),
        by=row["by_id"],
        at=datetime.fromisoformat(row["made_at"]),
        ids=tuple(json.loads(row["ids"])),
        text=row["text"],
    )


def factor_of(stored: float) -> float:
    """0 stands for "without a limit": SQLite's STRICT tables and JSON have no infinity that every tool reads."""
    return NO_LIMIT if stored == 0 else stored


def stored_factor(factor: float) -> float:
    return 0.0 if factor == NO_LIMIT else factor


def seat_of(row: Row) -> Seat:
    return Seat(row["learner_id"], row["name"], row["number"], row["team"], factor_of(row["factor"]))


def press_of(row: Row) -> Press:
    return Press(row["press_id"], row["position"], row["vote"], row["learner_id"], response_of(row["response"]), moment(row["pressed_at"]))


def response_json(response: Response) -> str:
    return json.dumps(to_json(response), ensure_ascii=False)


@lru_cache(maxsize=4_096)  # a round of 500 people has few different answers, read many times
def response_of(stored: str) -> Response:
    return from_json(json.loads(stored))
