-- Calibration: the principles, domains, tenets and lenses of an organisation, and for each calibrated
-- dialogue its constraints, its ethos in versions, and the tensions that challenge a rule.
--
-- The first four tables belong to the store. Their entries are in the journal under `*ethos`, which
-- no dialogue can be called.

CREATE TABLE principles (
  principle_id       TEXT PRIMARY KEY,
  label              TEXT NOT NULL,
  description        TEXT NOT NULL,
  rationale          TEXT,
  status             TEXT NOT NULL,
  priority           INT NOT NULL,
  deprecated_because TEXT,
  created_at         TEXT NOT NULL,
  CHECK (status = 'draft' OR status = 'active' OR status = 'deprecated')
) WITHOUT ROWID;

CREATE TABLE domains (
  domain_id          TEXT PRIMARY KEY,
  code               TEXT NOT NULL UNIQUE,
  place              INT NOT NULL,
  label              TEXT NOT NULL,
  description        TEXT,
  parent_domains     JSON NOT NULL,
  status             TEXT NOT NULL,
  deprecated_because TEXT,
  created_at         TEXT NOT NULL,
  CHECK (status = 'draft' OR status = 'active' OR status = 'deprecated')
) WITHOUT ROWID;

CREATE TABLE tenets (
  tenet_id           TEXT PRIMARY KEY,
  domain_id          TEXT NOT NULL REFERENCES domains(domain_id),
  label              TEXT NOT NULL,
  description        TEXT NOT NULL,
  rationale          TEXT,
  status             TEXT NOT NULL,
  priority           INT NOT NULL,
  deprecated_because TEXT,
  created_at         TEXT NOT NULL,
  CHECK (status = 'draft' OR status = 'active' OR status = 'deprecated')
) WITHOUT ROWID;

CREATE TABLE lenses (
  lens_id            TEXT PRIMARY KEY,
  domain_id          TEXT NOT NULL REFERENCES domains(domain_id),
  label              TEXT NOT NULL,
  include_tenets     JSON,
  exclude_tenets     JSON NOT NULL,
  priority_overrides JSON NOT NULL,
  status             TEXT NOT NULL,
  deprecated_because TEXT,
  created_at         TEXT NOT NULL,
  CHECK (status = 'draft' OR status = 'active' OR status = 'deprecated')
) WITHOUT ROWID;

CREATE TABLE constraints (
  dialogue_id   TEXT NOT NULL REFERENCES dialogues(dialogue_id),
  constraint_id TEXT NOT NULL,
  label         TEXT NOT NULL,
  description   TEXT,
  source        TEXT NOT NULL,
  source_detail TEXT,
  priority      INT NOT NULL,
  created_at    TEXT NOT NULL,
  PRIMARY KEY (dialogue_id, constraint_id),
  CHECK (source = 'authored' OR source = 'extracted')
) WITHOUT ROWID;

CREATE TABLE ethos (
  dialogue_id      TEXT NOT NULL REFERENCES dialogues(dialogue_id),
  ethos_id         TEXT NOT NULL,
  version          INT NOT NULL,
  status           TEXT NOT NULL,
  domains          JSON NOT NULL,
  rules_count      INT NOT NULL,
  conflicts_count  INT NOT NULL,
  approved_by      TEXT,
  approved_at      TEXT,
  rejected_because TEXT,
  created_at       TEXT NOT NULL,
  PRIMARY KEY (dialogue_id, ethos_id),
  CHECK (status = 'draft' OR status = 'approved' OR status = 'rejected')
) WITHOUT ROWID;
CREATE INDEX idx_ethos_created ON ethos(created_at, ethos_id);

CREATE TABLE ethos_rules (
  dialogue_id   TEXT NOT NULL,
  ethos_id      TEXT NOT NULL,
  seq           INT NOT NULL,
  rule_type     TEXT NOT NULL,
  source_id     TEXT NOT NULL,
  source_domain TEXT,
  label         TEXT NOT NULL,
  description   TEXT NOT NULL,
  priority      INT NOT NULL,
  supersedes    JSON NOT NULL,
  standing      TEXT NOT NULL,
  PRIMARY KEY (dialogue_id, ethos_id, seq),
  FOREIGN KEY (dialogue_id, ethos_id) REFERENCES ethos(dialogue_id, ethos_id),
  CHECK (rule_type = 'principle' OR rule_type = 'tenet' OR rule_type = 'constraint'),
  CHECK (standing = 'in_force' OR standing = 'superseded' OR standing = 'removed' OR standing = 'excluded')
) WITHOUT ROWID;

CREATE TABLE ethos_conflicts (
  dialogue_id   TEXT NOT NULL,
  ethos_id      TEXT NOT NULL,
  conflict      INT NOT NULL,
  a             TEXT NOT NULL,
  b             TEXT NOT NULL,
  conflict_type TEXT NOT NULL,
  finding       TEXT NOT NULL,
  resolution    TEXT,
  reason        TEXT,
  resolved_by   TEXT,
  proposal      JSON,
  PRIMARY KEY (dialogue_id, ethos_id, conflict),
  FOREIGN KEY (dialogue_id, ethos_id) REFERENCES ethos(dialogue_id, ethos_id),
  CHECK (conflict_type = 'contradiction' OR conflict_type = 'redundancy' OR conflict_type = 'ambiguity'),
  CHECK (resolution IS NULL OR resolution = 'a_supersedes' OR resolution = 'b_supersedes' OR resolution = 'merged' OR resolution = 'removed'),
  CHECK (resolved_by IS NULL OR resolved_by = 'priority' OR resolved_by = 'manual' OR resolved_by = 'model')
) WITHOUT ROWID;

CREATE TABLE rule_challenges (
  dialogue_id TEXT NOT NULL REFERENCES dialogues(dialogue_id),
  tension_id  TEXT NOT NULL,
  rule_id     TEXT NOT NULL,
  ethos_id    TEXT NOT NULL,
  source_id   TEXT NOT NULL,
  experts     JSON NOT NULL,
  created_at  TEXT NOT NULL,
  PRIMARY KEY (dialogue_id, tension_id, rule_id),
  FOREIGN KEY (dialogue_id, ethos_id) REFERENCES ethos(dialogue_id, ethos_id)
) WITHOUT ROWID;

-- An ethos that is approved or rejected stands as it is.
CREATE TRIGGER ethos_is_immutable BEFORE UPDATE ON ethos WHEN OLD.status <> 'draft'
BEGIN SELECT RAISE(ABORT, 'a decided ethos is immutable'); END;
CREATE TRIGGER ethos_is_kept BEFORE DELETE ON ethos
BEGIN SELECT RAISE(ABORT, 'an ethos is kept'); END;
CREATE TRIGGER ethos_rules_are_immutable BEFORE UPDATE ON ethos_rules
BEGIN SELECT RAISE(ABORT, 'a rule is immutable'); END;
CREATE TRIGGER ethos_rules_only_in_drafts BEFORE INSERT ON ethos_rules
WHEN (SELECT status FROM ethos WHERE dialogue_id = NEW.dialogue_id AND ethos_id = NEW.ethos_id) <> 'draft'
BEGIN SELECT RAISE(ABORT, 'a decided ethos is immutable'); END;
CREATE TRIGGER ethos_rules_are_kept BEFORE DELETE ON ethos_rules
WHEN (SELECT status FROM ethos WHERE dialogue_id = OLD.dialogue_id AND ethos_id = OLD.ethos_id) <> 'draft'
BEGIN SELECT RAISE(ABORT, 'a decided ethos is immutable'); END;

-- `dialogues` now refers to its domain and its ethos. The table is made again, as in 0005.
PRAGMA defer_foreign_keys = ON;

CREATE TABLE dialogues_before AS SELECT * FROM dialogues;
DROP TABLE dialogues;

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
  domain_id           TEXT REFERENCES domains(domain_id),
  ethos_id            TEXT,
  FOREIGN KEY (dialogue_id, ethos_id) REFERENCES ethos(dialogue_id, ethos_id),
  CHECK (status = 'open' OR status = 'converging' OR status = 'converged' OR status = 'abandoned'),
  CHECK (terminal_state IS NULL OR terminal_state = 'clean' OR terminal_state = 'revised' OR terminal_state = 'unconverged'),
  CHECK (convergence_percent BETWEEN 1 AND 100)
) WITHOUT ROWID;
INSERT INTO dialogues SELECT * FROM dialogues_before;
DROP TABLE dialogues_before;

CREATE UNIQUE INDEX idx_dialogues_title_created ON dialogues(title, created_at);
CREATE UNIQUE INDEX idx_dialogues_output_dir ON dialogues(output_dir) WHERE output_dir IS NOT NULL;
CREATE INDEX idx_dialogues_created ON dialogues(created_at, dialogue_id);
CREATE INDEX idx_dialogues_status ON dialogues(status, created_at, dialogue_id);
CREATE INDEX idx_dialogues_protocol ON dialogues(protocol, created_at, dialogue_id);
CREATE INDEX idx_dialogues_digits ON dialogues(substr(dialogue_id, -8));
CREATE INDEX idx_dialogues_follows ON dialogues(background ->> '$.follows', created_at)
  WHERE background IS NOT NULL;
