-- What `similar` looks through: titles, questions, tension labels, claims, conclusions.
-- A store made before this migration has its texts carried over.

CREATE VIRTUAL TABLE search_text USING fts5(
  dialogue_id UNINDEXED, field UNINDEXED, body,
  tokenize = 'porter unicode61 remove_diacritics 2'
);

INSERT INTO search_text (dialogue_id, field, body)
SELECT dialogue_id, 'title', title FROM dialogues
UNION ALL SELECT dialogue_id, 'question', question FROM dialogues WHERE question IS NOT NULL
UNION ALL SELECT dialogue_id, 'tension', label FROM tensions
UNION ALL SELECT dialogue_id, 'claim', label || char(10) || content FROM claims
UNION ALL SELECT dialogue_id, 'conclusion', recommendation || char(10) || description FROM verdicts;
