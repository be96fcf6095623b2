-- How deliberations end, what became of it, and where the Principal had a hand in it.

-- The ending of a dialogue: five fields, and how they came about. `terminal_state` is null
-- where nobody audited it. `rehearsal` is the dialogue's own, and `awaited` says that an
-- outcome is still to be recorded; both stand here so that the two indexes below hold just
-- what is asked for.
CREATE TABLE conclusions (
  dialogue_id       TEXT PRIMARY KEY REFERENCES dialogues(dialogue_id),
  terminal_state    TEXT,
  recommendation    TEXT NOT NULL,
  key_condition     TEXT NOT NULL,
  unresolved_points JSON NOT NULL,
  review_by         TEXT NOT NULL,
  participants      JSON NOT NULL,
  audit             JSON,
  synthesizer       JSON NOT NULL,
  critic            JSON,
  reviser           JSON,
  rehearsal         BOOLEAN NOT NULL,
  awaited           BOOLEAN NOT NULL,
  created_at        TEXT NOT NULL,
  CHECK (terminal_state IS NULL OR terminal_state = 'clean' OR terminal_state = 'revised' OR terminal_state = 'unconverged')
);
CREATE INDEX idx_conclusions_audited ON conclusions(created_at, dialogue_id)
  WHERE terminal_state IS NOT NULL AND NOT rehearsal;
CREATE INDEX idx_conclusions_awaited ON conclusions(review_by, dialogue_id) WHERE awaited;

-- A conclusion, once given, stands; only what became of it is still to come.
CREATE TRIGGER conclusions_are_immutable
BEFORE UPDATE OF dialogue_id, terminal_state, recommendation, key_condition, unresolved_points,
  review_by, participants, audit, synthesizer, critic, reviser, rehearsal, created_at
ON conclusions
BEGIN SELECT RAISE(ABORT, 'conclusions are immutable'); END;

-- What became of a conclusion, as often as somebody looked.
CREATE TABLE outcomes (
  dialogue_id TEXT NOT NULL REFERENCES conclusions(dialogue_id),
  seq         INT NOT NULL,
  outcome     TEXT NOT NULL,
  note        TEXT,
  created_at  TEXT NOT NULL,
  PRIMARY KEY (dialogue_id, seq),
  CHECK (outcome = 'held' OR outcome = 'failed' OR outcome = 'mixed')
) WITHOUT ROWID;
CREATE TRIGGER outcomes_are_immutable BEFORE UPDATE ON outcomes
BEGIN SELECT RAISE(ABORT, 'outcomes are immutable'); END;

-- A run asks again and again whether the Principal has said anything; this answers at once.
CREATE INDEX idx_journal_interventions ON journal(kind, global_seq) WHERE kind = 'intervened';
