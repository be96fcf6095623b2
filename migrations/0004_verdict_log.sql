-- The verdict log of the artifact gate, and what people decided over it.

-- A line of `council_log.jsonl`, word for word; the columns before it are for looking it up.
-- `seq` is the order in the file: the number of the row's entry among those of all dialogues,
-- times a million, and its place in that entry. So it follows from the journal, as all else does.
-- `row_sha256` seals what the row says without its id, by which a row that came without one is
-- known again.
CREATE TABLE verdict_log (
  dialogue_id     TEXT NOT NULL REFERENCES dialogues(dialogue_id),
  verdict_id      TEXT NOT NULL,
  seq             INTEGER NOT NULL,
  ts              TEXT NOT NULL,
  artifact        TEXT NOT NULL,
  artifact_type   TEXT NOT NULL,
  artifact_sha256 TEXT,
  tier            INT,
  producer        TEXT,
  verdict         TEXT NOT NULL,
  rehearsal       BOOLEAN NOT NULL,
  imported        BOOLEAN NOT NULL,
  row_sha256      TEXT NOT NULL,
  line            TEXT NOT NULL,
  PRIMARY KEY (dialogue_id, verdict_id),
  CHECK (verdict = 'SHIP' OR verdict = 'REVISE' OR verdict = 'HOLD' OR verdict = 'INCOMPLETE'),
  CHECK (tier IS NULL OR tier BETWEEN 1 AND 3)
);
CREATE UNIQUE INDEX idx_verdict_log_seq ON verdict_log(seq);
CREATE UNIQUE INDEX idx_verdict_log_id ON verdict_log(verdict_id);
CREATE INDEX idx_verdict_log_type ON verdict_log(artifact_type, seq);
CREATE INDEX idx_verdict_log_row ON verdict_log(row_sha256);
-- What the adjudicator is shown of earlier verdicts, newest first.
CREATE INDEX idx_verdict_log_priors ON verdict_log(artifact_type, ts, seq)
  WHERE verdict <> 'INCOMPLETE' AND NOT rehearsal;
-- Whether this very content was decided on before.
CREATE INDEX idx_verdict_log_content ON verdict_log(artifact_sha256, rehearsal, seq)
  WHERE verdict <> 'INCOMPLETE' AND artifact_sha256 IS NOT NULL;
CREATE TRIGGER verdict_log_only_grows_update BEFORE UPDATE ON verdict_log
BEGIN SELECT RAISE(ABORT, 'the verdict log only grows'); END;
CREATE TRIGGER verdict_log_only_grows_delete BEFORE DELETE ON verdict_log
BEGIN SELECT RAISE(ABORT, 'the verdict log only grows'); END;

-- People's decisions over the gate's. The newest of a verdict stands; the others are kept.
CREATE TABLE overrides (
  dialogue_id TEXT NOT NULL,
  verdict_id  TEXT NOT NULL,
  seq         INT NOT NULL,
  decision    TEXT NOT NULL,
  why         TEXT NOT NULL,
  created_at  TEXT NOT NULL,
  PRIMARY KEY (dialogue_id, verdict_id, seq),
  FOREIGN KEY (dialogue_id, verdict_id) REFERENCES verdict_log(dialogue_id, verdict_id),
  CHECK (decision = 'SHIP' OR decision = 'REVISE' OR decision = 'HOLD')
) WITHOUT ROWID;
CREATE TRIGGER overrides_are_immutable BEFORE UPDATE ON overrides
BEGIN SELECT RAISE(ABORT, 'overrides are immutable'); END;
