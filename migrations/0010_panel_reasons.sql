-- Why an expert has a seat, the tensions that the seat owns, and why the panel has its size.

ALTER TABLE panels ADD COLUMN reason TEXT;
ALTER TABLE panels ADD COLUMN tensions JSON;
ALTER TABLE expert_pool ADD COLUMN panel_reason TEXT;
