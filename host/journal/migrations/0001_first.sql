-- Times are Unix milliseconds. Unknown numbers are NULL, never 0.

-- One row for each start of the host; ended only by a clean exit.
CREATE TABLE boots (
    id      INTEGER PRIMARY KEY,
    started INTEGER NOT NULL,
    ended   INTEGER,
    version TEXT NOT NULL,
    pid     INTEGER NOT NULL
) STRICT;

CREATE TABLE sessions (
    id      INTEGER PRIMARY KEY,
    key     TEXT NOT NULL UNIQUE,
    agent   TEXT NOT NULL,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    turns   INTEGER NOT NULL
) STRICT;

CREATE TABLE turns (
    id            TEXT PRIMARY KEY,
    session       INTEGER NOT NULL REFERENCES sessions (id),
    seq           INTEGER NOT NULL CHECK (seq > 0),
    agent         TEXT NOT NULL,
    state         TEXT NOT NULL,
    boot          INTEGER NOT NULL REFERENCES boots (id),
    created       INTEGER NOT NULL,
    started       INTEGER,
    ended         INTEGER,
    marker        TEXT NOT NULL DEFAULT '',
    error_class   TEXT NOT NULL DEFAULT '',
    error_message TEXT NOT NULL DEFAULT '',
    candidate     TEXT NOT NULL DEFAULT '',
    fallback      INTEGER NOT NULL DEFAULT 0,
    UNIQUE (session, seq)
) STRICT, WITHOUT ROWID;

-- Never two running turns of a session.
CREATE UNIQUE INDEX turns_running ON turns (session) WHERE state = 'running';
CREATE INDEX turns_queued ON turns (session, seq) WHERE state = 'queued';

-- What people sent, as it came.
CREATE TABLE inbox (
    id          INTEGER PRIMARY KEY,
    turn        TEXT NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    account     TEXT NOT NULL,
    external_id TEXT NOT NULL,
    surface     TEXT NOT NULL,
    sender      TEXT NOT NULL,
    text        TEXT NOT NULL,
    received    INTEGER NOT NULL
) STRICT;

CREATE INDEX inbox_turn ON inbox (turn);
CREATE UNIQUE INDEX inbox_once ON inbox (account, external_id) WHERE external_id <> '';

-- What recovery needs of a turn.
CREATE TABLE claims (
    turn          TEXT PRIMARY KEY REFERENCES turns (id) ON DELETE CASCADE,
    boot          INTEGER NOT NULL REFERENCES boots (id),
    inbox         INTEGER NOT NULL,
    requester     TEXT NOT NULL,
    conversation  TEXT NOT NULL,
    thread        TEXT NOT NULL,
    delivery_mode TEXT NOT NULL,
    delivery_id   TEXT NOT NULL,
    plugins       TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The transcript. Its order is that of the turns, then of the messages.
CREATE TABLE messages (
    id        INTEGER PRIMARY KEY,
    session   INTEGER NOT NULL REFERENCES sessions (id),
    seq       INTEGER NOT NULL,
    turn      TEXT NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    role      TEXT NOT NULL,
    parts     TEXT NOT NULL,
    marker    TEXT NOT NULL,
    candidate TEXT NOT NULL,
    created   INTEGER NOT NULL
) STRICT;

CREATE INDEX messages_order ON messages (session, seq, id);
CREATE INDEX messages_turn ON messages (turn);

-- One row for each request to a model, there before it is sent.
CREATE TABLE attempts (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    turn         TEXT NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    iteration    INTEGER NOT NULL,
    number       INTEGER NOT NULL,
    profile      TEXT NOT NULL,
    provider     TEXT NOT NULL,
    model        TEXT NOT NULL,
    served       TEXT NOT NULL DEFAULT '',
    fingerprint  TEXT NOT NULL,
    streaming    INTEGER NOT NULL,
    key_label    TEXT NOT NULL,
    started      INTEGER NOT NULL,
    ended        INTEGER,
    outcome      TEXT NOT NULL DEFAULT 'unknown',
    status       INTEGER NOT NULL DEFAULT 0,
    code         TEXT NOT NULL DEFAULT '',
    message      TEXT NOT NULL DEFAULT '',
    request_id   TEXT NOT NULL DEFAULT '',
    wait         INTEGER NOT NULL,
    input        INTEGER,
    output       INTEGER,
    cache_read   INTEGER,
    cache_write  INTEGER,
    reasoning    INTEGER,
    usage_source TEXT NOT NULL DEFAULT 'unknown',
    warning      TEXT NOT NULL DEFAULT ''
) STRICT;

CREATE INDEX attempts_turn ON attempts (turn);
CREATE INDEX attempts_started ON attempts (started);

-- What happened in a turn. A row never changes, and goes only when its turn
-- goes: the cascade deletes the events after their turn.
CREATE TABLE events (
    turn    TEXT NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    n       INTEGER NOT NULL CHECK (n > 0),
    attempt INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    type    TEXT NOT NULL,
    text    TEXT NOT NULL,
    data    TEXT NOT NULL,
    PRIMARY KEY (turn, n)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER events_never_change BEFORE UPDATE ON events
BEGIN
    SELECT RAISE(ABORT, 'events are never changed');
END;

CREATE TRIGGER events_go_with_their_turn BEFORE DELETE ON events
WHEN EXISTS (SELECT 1 FROM turns WHERE id = OLD.turn)
BEGIN
    SELECT RAISE(ABORT, 'events go only with their turn');
END;
