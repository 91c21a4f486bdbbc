"""The harbour: a small guide with one fact per sentence, for tests that ask about it."""

from __future__ import annotations

from content.model import Guide, Section

GATES = Section("gates", "Gates", "The outer gate closes at dusk. It weighs 48 tons and was built in 1911.", summary="Gates and locks.")
PILOTS = Section("pilots", "Pilots", "A pilot boards every ship longer than 60 metres before it enters the basin.")
SIGNALS = Section("code", "Signals", "Run this:\n\n```sh\nsignal --red on\n```\n\nA red lamp stops traffic.")
TIDES = Section("tides", "Tides", "High tide raises the basin by three metres. Ships with deep draught wait for the tide.")


def harbour(*sections: Section) -> Guide:
    return Guide("harbour", 1, "The harbour", "en", "How the harbour works.", sections)
