-- Tool calls, approvals, attachments, summaries, prices, and what a person does
-- after an interruption.

-- One row for each call that a model made, there before it runs. The id is the
-- host's own; a provider's may repeat.
CREATE TABLE tool_calls (
    id        TEXT PRIMARY KEY,
    turn      TEXT NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    iteration INTEGER NOT NULL,
    n         INTEGER NOT NULL,
    name      TEXT NOT NULL,
    arguments TEXT NOT NULL,
    effect    TEXT NOT NULL,
    source    TEXT NOT NULL,
    state     TEXT NOT NULL,
    result    TEXT NOT NULL DEFAULT '',
    is_error  INTEGER NOT NULL DEFAULT 0,
    reason    TEXT NOT NULL DEFAULT '',
    requested INTEGER NOT NULL,
    started   INTEGER,
    ended     INTEGER,
    UNIQUE (turn, iteration, n)
) STRICT, WITHOUT ROWID;

-- What was asked of a person about a call, answered at most once.
CREATE TABLE approvals (
    call     TEXT PRIMARY KEY REFERENCES tool_calls (id) ON DELETE CASCADE,
    turn     TEXT NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    state    TEXT NOT NULL,
    asked    INTEGER NOT NULL,
    expires  INTEGER NOT NULL,
    answered INTEGER,
    by       TEXT NOT NULL DEFAULT ''
) STRICT, WITHOUT ROWID;

CREATE INDEX approvals_turn ON approvals (turn);

-- The contents of attachments, by the SHA-256 of their bytes.
CREATE TABLE blobs (
    id         TEXT PRIMARY KEY,
    media_type TEXT NOT NULL,
    data       BLOB NOT NULL,
    created    INTEGER NOT NULL
) STRICT;

-- What the model is shown in place of a session's turns up to one.
CREATE TABLE summaries (
    id      INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES sessions (id),
    upto    INTEGER NOT NULL,
    turn    TEXT NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    text    TEXT NOT NULL,
    created INTEGER NOT NULL
) STRICT;

CREATE INDEX summaries_order ON summaries (session, upto);

-- Prices are in billionths of the currency; NULL is unpriced.
ALTER TABLE attempts ADD COLUMN price INTEGER;
ALTER TABLE attempts ADD COLUMN currency TEXT NOT NULL DEFAULT '';
-- Sums of prices since a time are asked for before each request: the index is
-- enough for them.
DROP INDEX attempts_started;
CREATE INDEX attempts_started ON attempts (started, currency, price);

-- relation is 'continue' or 'retry' of the turn named in after.
ALTER TABLE turns ADD COLUMN after TEXT NOT NULL DEFAULT '';
ALTER TABLE turns ADD COLUMN relation TEXT NOT NULL DEFAULT '';
-- A hidden turn is left out of what the model is shown; of a discarded one the
-- partial answer is.
ALTER TABLE turns ADD COLUMN hidden INTEGER NOT NULL DEFAULT 0;
ALTER TABLE turns ADD COLUMN discarded INTEGER NOT NULL DEFAULT 0;
