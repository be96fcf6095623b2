-- The record: seed 003's tables under their names, and what its text needs and its DDL forgot.
--
-- Keys stay scoped to one dialogue, so that the layout could be carried to a
-- partitioned store. Every table but `journal` and `chain_heads` is a projection
-- of the journal: `plenary verify` replays the journal and compares row by row.
--
-- Words are checked by OR instead of IN: for a list of three and more SQLite builds
-- a table of its own at every insert, which made registering a round five times slower.

CREATE TABLE dialogues (
  dialogue_id         TEXT PRIMARY KEY,
  title               TEXT NOT NULL,
  question            TEXT,
  background          JSON,
  protocol            TEXT NOT NULL DEFAULT 'alignment',
  status              TEXT NOT NULL DEFAULT 'open',
  lifecycle           TEXT NOT NULL DEFAULT 'pending',
  terminal_state      TEXT,
  rehearsal           BOOLEAN NOT NULL DEFAULT FALSE,
  convergence_percent INT NOT NULL DEFAULT 100,
  panel_seed          TEXT,
  created_at          TEXT NOT NULL,
  converged_at        TEXT,
  closed_because      TEXT,
  total_rounds        INT NOT NULL DEFAULT 0,
  total_alignment     INT NOT NULL DEFAULT 0,
  output_dir          TEXT,
  calibrated          BOOLEAN NOT NULL DEFAULT FALSE,
  domain_id           TEXT,
  ethos_id            TEXT,
  CHECK (status = 'open' OR status = 'converging' OR status = 'converged' OR status = 'abandoned'),
  CHECK (protocol = 'alignment' OR protocol = 'council' OR protocol = 'review'),
  CHECK (terminal_state IS NULL OR terminal_state = 'clean' OR terminal_state = 'revised' OR terminal_state = 'unconverged'),
  CHECK (convergence_percent BETWEEN 1 AND 100)
) WITHOUT ROWID;
CREATE UNIQUE INDEX idx_dialogues_title_created ON dialogues(title, created_at);
CREATE UNIQUE INDEX idx_dialogues_output_dir ON dialogues(output_dir) WHERE output_dir IS NOT NULL;
CREATE INDEX idx_dialogues_created ON dialogues(created_at, dialogue_id);
CREATE INDEX idx_dialogues_status ON dialogues(status, created_at, dialogue_id);
CREATE INDEX idx_dialogues_protocol ON dialogues(protocol, created_at, dialogue_id);

-- The pool as it was given, for reference; its experts stand in `experts` too.
CREATE TABLE expert_pool (
  dialogue_id TEXT PRIMARY KEY REFERENCES dialogues(dialogue_id),
  domain      TEXT,
  experts     JSON NOT NULL
) WITHOUT ROWID;

-- `experts` below is a view: scores and raw replies have rows of their own, so
-- that the ninetieth round costs what the first did. `planned_round` is when an
-- expert was meant to join, `first_round` when they first took part.
CREATE TABLE expert_profiles (
  dialogue_id     TEXT NOT NULL REFERENCES dialogues(dialogue_id),
  expert_slug     TEXT NOT NULL,
  place           INT NOT NULL,
  role            TEXT NOT NULL,
  description     TEXT,
  focus           TEXT,
  tier            TEXT NOT NULL,
  source          TEXT NOT NULL,
  relevance       REAL,
  creation_reason TEXT,
  mandate         TEXT,
  color           TEXT,
  total_score     INT NOT NULL DEFAULT 0,
  planned_round   INT,
  first_round     INT,
  created_at      TEXT NOT NULL,
  PRIMARY KEY (dialogue_id, expert_slug),
  CHECK (tier = 'Core' OR tier = 'Adjacent' OR tier = 'Wildcard'),
  CHECK (source = 'pool' OR source = 'created'),
  CHECK (relevance IS NULL OR relevance BETWEEN 0.0 AND 1.0)
) WITHOUT ROWID;
CREATE INDEX idx_expert_profiles_total ON expert_profiles(expert_slug, total_score);

CREATE TABLE panels (
  dialogue_id   TEXT NOT NULL,
  round         INT NOT NULL,
  expert_slug   TEXT NOT NULL,
  seat          INT NOT NULL,
  source        TEXT NOT NULL,
  round_context TEXT,
  mandate       TEXT,
  created_at    TEXT NOT NULL,
  PRIMARY KEY (dialogue_id, round, expert_slug),
  FOREIGN KEY (dialogue_id, expert_slug) REFERENCES expert_profiles(dialogue_id, expert_slug),
  CHECK (round BETWEEN 0 AND 99),
  CHECK (source = 'retained' OR source = 'pool' OR source = 'created')
) WITHOUT ROWID;

CREATE TABLE rounds (
  dialogue_id  TEXT NOT NULL REFERENCES dialogues(dialogue_id),
  round        INT NOT NULL,
  title        TEXT,
  score        INT NOT NULL,
  summary      TEXT,
  status       TEXT NOT NULL DEFAULT 'open',
  created_at   TEXT NOT NULL,
  completed_at TEXT,
  PRIMARY KEY (dialogue_id, round),
  CHECK (round BETWEEN 0 AND 99),
  CHECK (status = 'open' OR status = 'in_progress' OR status = 'completed')
) WITHOUT ROWID;

-- The first answer to a batch, so that the same batch again is answered alike.
CREATE TABLE registrations (
  dialogue_id  TEXT NOT NULL,
  round        INT NOT NULL,
  batch_sha256 TEXT NOT NULL,
  answer       JSON NOT NULL,
  PRIMARY KEY (dialogue_id, round),
  FOREIGN KEY (dialogue_id, round) REFERENCES rounds(dialogue_id, round)
) WITHOUT ROWID;

CREATE TABLE expert_scores (
  dialogue_id TEXT NOT NULL,
  round       INT NOT NULL,
  expert_slug TEXT NOT NULL,
  score       INT NOT NULL,
  PRIMARY KEY (dialogue_id, round, expert_slug),
  FOREIGN KEY (dialogue_id, round) REFERENCES rounds(dialogue_id, round),
  FOREIGN KEY (dialogue_id, expert_slug) REFERENCES expert_profiles(dialogue_id, expert_slug)
) WITHOUT ROWID;

CREATE TABLE raw_replies (
  dialogue_id TEXT NOT NULL,
  round       INT NOT NULL,
  expert_slug TEXT NOT NULL,
  content     TEXT NOT NULL,
  created_at  TEXT NOT NULL,
  PRIMARY KEY (dialogue_id, round, expert_slug),
  FOREIGN KEY (dialogue_id, round) REFERENCES rounds(dialogue_id, round),
  FOREIGN KEY (dialogue_id, expert_slug) REFERENCES expert_profiles(dialogue_id, expert_slug)
);

CREATE VIEW experts AS
SELECT
  dialogue_id, expert_slug, role, description, focus, tier, source, relevance, creation_reason,
  mandate, color,
  (SELECT json_group_object(s.round, s.score) FROM expert_scores s
    WHERE s.dialogue_id = p.dialogue_id AND s.expert_slug = p.expert_slug) AS scores,
  (SELECT json_group_object(r.round, r.content) FROM raw_replies r
    WHERE r.dialogue_id = p.dialogue_id AND r.expert_slug = p.expert_slug) AS raw_content,
  total_score, coalesce(first_round, planned_round) AS first_round, created_at
FROM expert_profiles p;

CREATE TABLE perspectives (
  dialogue_id  TEXT NOT NULL REFERENCES dialogues(dialogue_id),
  round        INT NOT NULL,
  seq          INT NOT NULL,
  label        TEXT NOT NULL,
  content      TEXT NOT NULL,
  contributors JSON NOT NULL,
  status       TEXT NOT NULL DEFAULT 'open',
  "references" JSON,
  created_at   TEXT NOT NULL,
  PRIMARY KEY (dialogue_id, round, seq),
  CHECK (round BETWEEN 0 AND 99 AND seq BETWEEN 1 AND 99),
  CHECK (status = 'open' OR status = 'refined' OR status = 'conceded' OR status = 'merged')
);
CREATE INDEX idx_perspectives_dialogue_round ON perspectives(dialogue_id, round, created_at);

CREATE TABLE recommendations (
  dialogue_id        TEXT NOT NULL REFERENCES dialogues(dialogue_id),
  round              INT NOT NULL,
  seq                INT NOT NULL,
  label              TEXT NOT NULL,
  content            TEXT NOT NULL,
  contributors       JSON NOT NULL,
  parameters         JSON,
  status             TEXT NOT NULL DEFAULT 'proposed',
  "references"       JSON,
  adopted_in_verdict TEXT,
  created_at         TEXT NOT NULL,
  PRIMARY KEY (dialogue_id, round, seq),
  CHECK (round BETWEEN 0 AND 99 AND seq BETWEEN 1 AND 99),
  CHECK (status = 'proposed' OR status = 'amended' OR status = 'adopted' OR status = 'rejected')
);
CREATE INDEX idx_recommendations_status ON recommendations(dialogue_id, status);

CREATE TABLE tensions (
  dialogue_id  TEXT NOT NULL REFERENCES dialogues(dialogue_id),
  round        INT NOT NULL,
  seq          INT NOT NULL,
  label        TEXT NOT NULL,
  description  TEXT NOT NULL,
  contributors JSON NOT NULL,
  status       TEXT NOT NULL DEFAULT 'open',
  "references" JSON,
  created_at   TEXT NOT NULL,
  PRIMARY KEY (dialogue_id, round, seq),
  CHECK (round BETWEEN 0 AND 99 AND seq BETWEEN 1 AND 99),
  CHECK (status = 'open' OR status = 'addressed' OR status = 'resolved' OR status = 'reopened')
);
CREATE INDEX idx_tensions_status ON tensions(dialogue_id, status);

CREATE TABLE evidence (
  dialogue_id  TEXT NOT NULL REFERENCES dialogues(dialogue_id),
  round        INT NOT NULL,
  seq          INT NOT NULL,
  label        TEXT NOT NULL,
  content      TEXT NOT NULL,
  contributors JSON NOT NULL,
  status       TEXT NOT NULL DEFAULT 'cited',
  "references" JSON,
  created_at   TEXT NOT NULL,
  PRIMARY KEY (dialogue_id, round, seq),
  CHECK (round BETWEEN 0 AND 99 AND seq BETWEEN 1 AND 99),
  CHECK (status = 'cited' OR status = 'challenged' OR status = 'confirmed' OR status = 'refuted')
);
CREATE INDEX idx_evidence_status ON evidence(dialogue_id, status);

CREATE TABLE claims (
  dialogue_id  TEXT NOT NULL REFERENCES dialogues(dialogue_id),
  round        INT NOT NULL,
  seq          INT NOT NULL,
  label        TEXT NOT NULL,
  content      TEXT NOT NULL,
  contributors JSON NOT NULL,
  status       TEXT NOT NULL DEFAULT 'asserted',
  "references" JSON,
  created_at   TEXT NOT NULL,
  PRIMARY KEY (dialogue_id, round, seq),
  CHECK (round BETWEEN 0 AND 99 AND seq BETWEEN 1 AND 99),
  CHECK (status = 'asserted' OR status = 'supported' OR status = 'opposed' OR status = 'adopted' OR status = 'withdrawn')
);
CREATE INDEX idx_claims_status ON claims(dialogue_id, status);

-- Events: one table per kind, alike but for the names the seed gave them. `seq`
-- counts the events of one entity, because two of them may share a timestamp.
CREATE TABLE perspective_events (
  dialogue_id       TEXT NOT NULL,
  perspective_round INT NOT NULL,
  perspective_seq   INT NOT NULL,
  seq               INT NOT NULL,
  event_type        TEXT NOT NULL,
  event_round       INT NOT NULL,
  actors            JSON NOT NULL,
  result_id         TEXT,
  reference         TEXT,
  reason            TEXT,
  created_at        TEXT NOT NULL,
  PRIMARY KEY (dialogue_id, perspective_round, perspective_seq, seq),
  FOREIGN KEY (dialogue_id, perspective_round, perspective_seq)
    REFERENCES perspectives(dialogue_id, round, seq),
  CHECK (event_type = 'created' OR event_type = 'refined' OR event_type = 'conceded' OR event_type = 'merged' OR event_type = 'opened' OR event_type = 'commented')
) WITHOUT ROWID;

CREATE TABLE recommendation_events (
  dialogue_id TEXT NOT NULL,
  rec_round   INT NOT NULL,
  rec_seq     INT NOT NULL,
  seq         INT NOT NULL,
  event_type  TEXT NOT NULL,
  event_round INT NOT NULL,
  actors      JSON NOT NULL,
  result_id   TEXT,
  reference   TEXT,
  reason      TEXT,
  created_at  TEXT NOT NULL,
  PRIMARY KEY (dialogue_id, rec_round, rec_seq, seq),
  FOREIGN KEY (dialogue_id, rec_round, rec_seq) REFERENCES recommendations(dialogue_id, round, seq),
  CHECK (event_type = 'created' OR event_type = 'amended' OR event_type = 'adopted' OR event_type = 'rejected' OR event_type = 'opened' OR event_type = 'commented')
) WITHOUT ROWID;

CREATE TABLE tension_events (
  dialogue_id   TEXT NOT NULL,
  tension_round INT NOT NULL,
  tension_seq   INT NOT NULL,
  seq           INT NOT NULL,
  event_type    TEXT NOT NULL,
  event_round   INT NOT NULL,
  actors        JSON NOT NULL,
  result_id     TEXT,
  reference     TEXT,
  reason        TEXT,
  created_at    TEXT NOT NULL,
  PRIMARY KEY (dialogue_id, tension_round, tension_seq, seq),
  FOREIGN KEY (dialogue_id, tension_round, tension_seq) REFERENCES tensions(dialogue_id, round, seq),
  CHECK (event_type = 'created' OR event_type = 'addressed' OR event_type = 'resolved' OR event_type = 'reopened' OR event_type = 'opened' OR event_type = 'commented')
) WITHOUT ROWID;

CREATE TABLE evidence_events (
  dialogue_id    TEXT NOT NULL,
  evidence_round INT NOT NULL,
  evidence_seq   INT NOT NULL,
  seq            INT NOT NULL,
  event_type     TEXT NOT NULL,
  event_round    INT NOT NULL,
  actors         JSON NOT NULL,
  result_id      TEXT,
  reference      TEXT,
  reason         TEXT,
  created_at     TEXT NOT NULL,
  PRIMARY KEY (dialogue_id, evidence_round, evidence_seq, seq),
  FOREIGN KEY (dialogue_id, evidence_round, evidence_seq) REFERENCES evidence(dialogue_id, round, seq),
  CHECK (event_type = 'cited' OR event_type = 'challenged' OR event_type = 'confirmed' OR event_type = 'refuted' OR event_type = 'opened' OR event_type = 'commented')
) WITHOUT ROWID;

CREATE TABLE claim_events (
  dialogue_id TEXT NOT NULL,
  claim_round INT NOT NULL,
  claim_seq   INT NOT NULL,
  seq         INT NOT NULL,
  event_type  TEXT NOT NULL,
  event_round INT NOT NULL,
  actors      JSON NOT NULL,
  result_id   TEXT,
  reference   TEXT,
  reason      TEXT,
  created_at  TEXT NOT NULL,
  PRIMARY KEY (dialogue_id, claim_round, claim_seq, seq),
  FOREIGN KEY (dialogue_id, claim_round, claim_seq) REFERENCES claims(dialogue_id, round, seq),
  CHECK (event_type = 'asserted' OR event_type = 'supported' OR event_type = 'opposed' OR event_type = 'adopted' OR event_type = 'withdrawn' OR event_type = 'opened' OR event_type = 'commented')
) WITHOUT ROWID;

-- An expert's own id for an entity, and the one it was given.
CREATE TABLE local_ids (
  dialogue_id TEXT NOT NULL REFERENCES dialogues(dialogue_id),
  local_id    TEXT NOT NULL,
  round       INT NOT NULL,
  expert_slug TEXT NOT NULL,
  global_id   TEXT NOT NULL,
  PRIMARY KEY (dialogue_id, local_id)
) WITHOUT ROWID;

CREATE TABLE refs (
  dialogue_id TEXT NOT NULL REFERENCES dialogues(dialogue_id),
  source_type TEXT NOT NULL,
  source_id   TEXT NOT NULL,
  ref_type    TEXT NOT NULL,
  target_type TEXT NOT NULL,
  target_id   TEXT NOT NULL,
  created_at  TEXT NOT NULL,
  PRIMARY KEY (dialogue_id, source_id, ref_type, target_id),
  CHECK (source_type = 'P' OR source_type = 'R' OR source_type = 'T' OR source_type = 'E' OR source_type = 'C'),
  CHECK (target_type = 'P' OR target_type = 'R' OR target_type = 'T' OR target_type = 'E' OR target_type = 'C'),
  CHECK (ref_type = 'support' OR ref_type = 'oppose' OR ref_type = 'refine' OR ref_type = 'address' OR ref_type = 'resolve' OR ref_type = 'reopen' OR ref_type = 'question' OR ref_type = 'depend'),
  CHECK (substr(source_id, 1, 1) = source_type),
  CHECK (substr(target_id, 1, 1) = target_type),
  CHECK (
    ((ref_type = 'resolve' OR ref_type = 'reopen' OR ref_type = 'address') AND target_type = 'T')
    OR (ref_type = 'refine' AND source_type = target_type)
    OR ref_type = 'support' OR ref_type = 'oppose' OR ref_type = 'question' OR ref_type = 'depend'
  )
) WITHOUT ROWID;
CREATE INDEX idx_refs_target ON refs(dialogue_id, target_id, ref_type);
CREATE INDEX idx_refs_source ON refs(dialogue_id, source_id);

CREATE TABLE moves (
  dialogue_id TEXT NOT NULL REFERENCES dialogues(dialogue_id),
  round       INT NOT NULL,
  seq         INT NOT NULL,
  expert_slug TEXT NOT NULL,
  move_type   TEXT NOT NULL,
  targets     JSON NOT NULL,
  context     TEXT,
  created_at  TEXT NOT NULL,
  PRIMARY KEY (dialogue_id, round, expert_slug, seq),
  FOREIGN KEY (dialogue_id, expert_slug) REFERENCES expert_profiles(dialogue_id, expert_slug),
  CHECK (move_type = 'defend' OR move_type = 'challenge' OR move_type = 'bridge' OR move_type = 'request' OR move_type = 'concede' OR move_type = 'converge')
) WITHOUT ROWID;

CREATE TABLE verdicts (
  dialogue_id             TEXT NOT NULL REFERENCES dialogues(dialogue_id),
  verdict_id              TEXT NOT NULL,
  seq                     INT NOT NULL,
  verdict_type            TEXT NOT NULL,
  round                   INT NOT NULL,
  author_expert           TEXT,
  recommendation          TEXT NOT NULL,
  description             TEXT NOT NULL,
  conditions              JSON,
  vote                    TEXT,
  confidence              TEXT,
  tensions_resolved       JSON,
  tensions_accepted       JSON,
  recommendations_adopted JSON,
  key_evidence            JSON,
  key_claims              JSON,
  supporting_experts      JSON,
  ethos_compliance        JSON,
  forced                  BOOLEAN NOT NULL DEFAULT FALSE,
  warning                 TEXT,
  created_at              TEXT NOT NULL,
  PRIMARY KEY (dialogue_id, verdict_id),
  CHECK (verdict_type = 'interim' OR verdict_type = 'final' OR verdict_type = 'minority' OR verdict_type = 'dissent'),
  CHECK (confidence IS NULL OR confidence = 'unanimous' OR confidence = 'strong' OR confidence = 'split' OR confidence = 'contested')
) WITHOUT ROWID;

-- A verdict, once given, stands.
CREATE TRIGGER verdicts_are_immutable BEFORE UPDATE ON verdicts
BEGIN SELECT RAISE(ABORT, 'verdicts are immutable'); END;

-- What happened, in order. `hash` chains the entries of one dialogue, `global_hash` all of them.
CREATE TABLE journal (
  global_seq     INTEGER PRIMARY KEY,
  dialogue_id    TEXT NOT NULL,
  seq            INT NOT NULL,
  kind           TEXT NOT NULL,
  ts             TEXT NOT NULL,
  payload        TEXT,
  payload_sha256 TEXT NOT NULL,
  prev_hash      TEXT NOT NULL,
  hash           TEXT NOT NULL,
  global_hash    TEXT NOT NULL
);
CREATE UNIQUE INDEX idx_journal_dialogue ON journal(dialogue_id, seq);
CREATE TRIGGER journal_only_grows_update BEFORE UPDATE ON journal
BEGIN SELECT RAISE(ABORT, 'the journal only grows'); END;
CREATE TRIGGER journal_only_grows_delete BEFORE DELETE ON journal
BEGIN SELECT RAISE(ABORT, 'the journal only grows'); END;

-- The newest hash of each chain; `*` is the chain over all dialogues.
CREATE TABLE chain_heads (
  scope TEXT PRIMARY KEY,
  seq   INT NOT NULL,
  hash  TEXT NOT NULL
) WITHOUT ROWID;
