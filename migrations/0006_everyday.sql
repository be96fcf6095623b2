-- A dialogue is also found by the last eight characters of its id, its hex digits.
CREATE INDEX idx_dialogues_digits ON dialogues(substr(dialogue_id, -8));

-- The earlier dialogue that a question follows up.
CREATE INDEX idx_dialogues_follows ON dialogues(background ->> '$.follows', created_at)
  WHERE background IS NOT NULL;

-- The person who decided; overrides of earlier versions have no name.
ALTER TABLE overrides ADD COLUMN by TEXT;

-- All verdicts on a content, with those that decided nothing: a person may have decided over them.
CREATE INDEX idx_verdict_log_bytes ON verdict_log(artifact_sha256, rehearsal, seq)
  WHERE artifact_sha256 IS NOT NULL;
