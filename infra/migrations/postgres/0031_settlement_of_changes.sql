-- Usage that fell by a change of it (0030) may reach a threshold once more, and then it is reported again.
-- Usage that falls by itself, as that of a gauge, does not.
ALTER TABLE settlement_marks ADD COLUMN rearms boolean NOT NULL DEFAULT false;
