-- How an expert's reply of a round stands to the rules of a calibrated dialogue.

ALTER TABLE expert_scores ADD COLUMN calibration INT;
