"""What can go wrong in a use case, each with a name. `TutorError` is the base of this package.

TutorError
├── NotFound        a quiz, guide, section or round that is not (or no longer) there
├── NotYours        the button belongs to somebody else's round
├── StaleAnswer     the button belongs to a question that this round has left
├── BadResponse     what was typed or chosen cannot be an answer to this question
├── RoundRunning    the channel has a live round that has not ended
├── BankRefused     a file that was to be imported cannot be
├── TooManyDrafts   a guild keeps no more quizzes of its own
├── Throttled       this learner asks faster than agreed
└── StoreError      the database cannot be opened, read or written
"""

from __future__ import annotations


class TutorError(Exception):
    """Base of everything a use case may refuse with."""


class NotFound(TutorError):
    def __init__(self, kind: str, key: str) -> None:
        super().__init__(f"{kind} {key!r} is not there")
        self.kind = kind
        self.key = key


class NotYours(TutorError):
    pass


class StaleAnswer(TutorError):
    pass


class BadResponse(TutorError):
    pass


class RoundRunning(TutorError):
    def __init__(self, round_id: str) -> None:
        super().__init__(f"live round {round_id} is running in this channel")
        self.round_id = round_id


class Throttled(TutorError):
    def __init__(self, wait_s: float) -> None:
        super().__init__(f"wait {wait_s:.0f} s before the next question")
        self.wait_s = wait_s


class StoreError(TutorError):
    """The message is one line for the operator: what happened, with the path, and what to do."""


class BankRefused(TutorError):
    """A file is no question bank, is too large, or takes too long. The message is one line for the person who sent it."""


class TooManyDrafts(TutorError):
    def __init__(self, most: int) -> None:
        super().__init__(f"a guild keeps at most {most} drafts")
        self.most = most
