-- The billing period that a term is recorded in, where it is none of the lattice of its anchor: a first one of
-- another length, or one that was extended. Null: it is one, or a process of the release before wrote it.
ALTER TABLE subscription_terms ADD COLUMN period_start timestamptz, ADD COLUMN period_end timestamptz;
