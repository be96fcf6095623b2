-- Dialogues of protocols that are not built in: the names of protocols are no longer listed here.
--
-- SQLite cannot drop a CHECK, so the table is made again. Rows of other tables refer to this one:
-- their references are checked when the transaction ends, and by then all rows are back. The table
-- is not renamed, because a rename would rewrite the references to it.

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
  domain_id           TEXT,
  ethos_id            TEXT,
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
