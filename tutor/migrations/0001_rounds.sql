-- Solo rounds, answers, what people chose, and what became of follow-up questions.
-- Times are ISO 8601 in UTC. No question text of a learner is kept here unless they agreed (gaps.question).

CREATE TABLE rounds (
    id TEXT PRIMARY KEY,
    learner_id INTEGER NOT NULL,
    guild_id INTEGER,
    channel_id INTEGER,
    quiz_id TEXT NOT NULL,
    quiz_version INTEGER NOT NULL,
    language TEXT NOT NULL,
    mode TEXT NOT NULL CHECK (mode IN ('practice', 'exam')),
    question_ids TEXT NOT NULL,
    orders TEXT NOT NULL,
    started_at TEXT NOT NULL,
    asked_at TEXT NOT NULL,
    finished_at TEXT
) STRICT;
CREATE INDEX rounds_by_learner ON rounds (learner_id, finished_at);

CREATE TABLE answers (
    round_id TEXT NOT NULL REFERENCES rounds (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    question_id TEXT NOT NULL,
    response TEXT NOT NULL,
    verdict TEXT NOT NULL,
    credit REAL NOT NULL,
    points REAL NOT NULL,
    answered_at TEXT NOT NULL,
    PRIMARY KEY (round_id, question_id),
    UNIQUE (round_id, position)
) STRICT;

CREATE TABLE people (
    learner_id INTEGER PRIMARY KEY,
    language TEXT,
    keeps_questions INTEGER NOT NULL DEFAULT 0 CHECK (keeps_questions IN (0, 1))
) STRICT;

CREATE TABLE replies (
    id TEXT PRIMARY KEY,
    learner_id INTEGER NOT NULL,
    guide_id TEXT,
    kind TEXT NOT NULL,
    reason TEXT,
    cited TEXT NOT NULL,
    engine TEXT NOT NULL,
    first_sentence_s REAL,
    total_s REAL NOT NULL,
    asked_at TEXT NOT NULL,
    helpful INTEGER
) STRICT;

CREATE TABLE gaps (
    id INTEGER PRIMARY KEY,
    guide_id TEXT,
    nearest TEXT,
    reason TEXT NOT NULL,
    language TEXT NOT NULL,
    question TEXT,
    asked_at TEXT NOT NULL
) STRICT;

CREATE TABLE facts_of_this_bot (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;
