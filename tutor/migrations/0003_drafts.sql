-- Quizzes that a guild brought itself: what was read and waits for a yes, what was kept, what an engine proposes to add.
-- Times are ISO 8601 in UTC. Quizzes are native YAML (schema: quiz/1), the same text that `studyhall import --to` writes.

CREATE TABLE read_banks (
    id TEXT PRIMARY KEY,
    guild_id INTEGER NOT NULL,
    read_by INTEGER NOT NULL,
    read_at TEXT NOT NULL,
    file TEXT NOT NULL,
    quiz TEXT NOT NULL
) STRICT;
CREATE INDEX read_banks_by_time ON read_banks (read_at);

-- A draft has a row for each version; the highest is the one that new rounds ask.
CREATE TABLE drafts (
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    guild_id INTEGER NOT NULL,
    quiz TEXT NOT NULL,
    kept_by INTEGER NOT NULL,
    kept_at TEXT NOT NULL,
    removed_at TEXT,
    PRIMARY KEY (id, version)
) STRICT;
CREATE INDEX drafts_by_guild ON drafts (guild_id);

CREATE TABLE proposals (
    id TEXT PRIMARY KEY,
    draft_id TEXT NOT NULL,
    question_id TEXT NOT NULL,
    guide_id TEXT NOT NULL,
    language TEXT NOT NULL,
    explanation TEXT NOT NULL,
    sections TEXT NOT NULL,
    made_by INTEGER NOT NULL,
    made_at TEXT NOT NULL
) STRICT;
CREATE INDEX proposals_by_draft ON proposals (draft_id);
