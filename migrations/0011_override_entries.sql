-- The verdict log has a line for each override, in the order of the entries.

CREATE INDEX idx_journal_overrides ON journal(kind, global_seq) WHERE kind = 'overridden';
