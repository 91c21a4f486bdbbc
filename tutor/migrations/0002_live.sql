-- Live rounds: the round, who is in it, every press, what was repaired. Times are ISO 8601 in UTC; pressed_at is
-- milliseconds since 1970, as the interaction id has it. Points are nowhere: they are derived from presses and keys.

CREATE TABLE live_rounds (
    id TEXT PRIMARY KEY,
    guild_id INTEGER NOT NULL,
    channel_id INTEGER NOT NULL,
    host_id INTEGER NOT NULL,
    quiz_id TEXT NOT NULL,
    quiz TEXT NOT NULL,
    language TEXT NOT NULL,
    rules TEXT NOT NULL,
    seed INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    phase TEXT NOT NULL,
    state TEXT NOT NULL,
    ended_at TEXT
) STRICT;
CREATE INDEX live_rounds_open ON live_rounds (channel_id) WHERE ended_at IS NULL;
CREATE INDEX live_rounds_by_guild ON live_rounds (guild_id, created_at);

CREATE TABLE live_seats (
    round_id TEXT NOT NULL REFERENCES live_rounds (id) ON DELETE CASCADE,
    learner_id INTEGER NOT NULL,
    number INTEGER NOT NULL,
    name TEXT NOT NULL,
    team INTEGER,
    factor REAL NOT NULL,
    joined_at TEXT NOT NULL,
    PRIMARY KEY (round_id, learner_id)
) STRICT;

CREATE TABLE live_presses (
    press_id INTEGER PRIMARY KEY,
    round_id TEXT NOT NULL REFERENCES live_rounds (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    vote INTEGER NOT NULL,
    learner_id INTEGER NOT NULL,
    response TEXT NOT NULL,
    pressed_at INTEGER NOT NULL
) STRICT;
CREATE INDEX live_presses_by_question ON live_presses (round_id, position, vote, learner_id);

CREATE TABLE live_repairs (
    id INTEGER PRIMARY KEY,
    round_id TEXT NOT NULL REFERENCES live_rounds (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    fix TEXT NOT NULL,
    ids TEXT NOT NULL,
    text TEXT,
    by_id INTEGER NOT NULL,
    made_at TEXT NOT NULL
) STRICT;
CREATE INDEX live_repairs_by_round ON live_repairs (round_id);

CREATE TABLE live_lost (
    round_id TEXT NOT NULL REFERENCES live_rounds (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    learner_id INTEGER NOT NULL,
    PRIMARY KEY (round_id, position, learner_id)
) STRICT;

CREATE TABLE live_messages (
    round_id TEXT NOT NULL REFERENCES live_rounds (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    position INTEGER NOT NULL,
    channel_id INTEGER NOT NULL,
    message_id INTEGER NOT NULL,
    PRIMARY KEY (round_id, kind, position)
) STRICT;

-- How much longer an instructor lets a person take; 0 means without a limit.
CREATE TABLE time_factors (
    guild_id INTEGER NOT NULL,
    learner_id INTEGER NOT NULL,
    factor REAL NOT NULL,
    PRIMARY KEY (guild_id, learner_id)
) STRICT;

-- What a person who agreed did not get right, for a later review.
ALTER TABLE people ADD COLUMN keeps_misses INTEGER NOT NULL DEFAULT 0 CHECK (keeps_misses IN (0, 1));
CREATE TABLE misses (
    learner_id INTEGER NOT NULL,
    round_id TEXT NOT NULL,
    quiz_id TEXT NOT NULL,
    question_id TEXT NOT NULL,
    response TEXT,
    credit REAL NOT NULL,
    missed_at TEXT NOT NULL,
    PRIMARY KEY (learner_id, round_id, question_id)
) STRICT;
