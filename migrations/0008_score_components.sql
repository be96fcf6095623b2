-- What an expert's score of a round is made of, where the Judge said so, and the words of the
-- expert's reply that it rests on.

ALTER TABLE expert_scores ADD COLUMN wisdom INT;
ALTER TABLE expert_scores ADD COLUMN consistency INT;
ALTER TABLE expert_scores ADD COLUMN truth INT;
ALTER TABLE expert_scores ADD COLUMN relationships INT;
ALTER TABLE expert_scores ADD COLUMN quotes JSON;
