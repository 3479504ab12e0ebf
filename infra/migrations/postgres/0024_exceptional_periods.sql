-- The billing period in which a term is recorded, where it is none of the lattice of its anchor: a first one
-- of another length, or one that was extended. Null: it is one, or a process of the release before wrote it.
ALTER TABLE subscription_terms ADD COLUMN period_start timestamptz, ADD COLUMN period_end timestamptz;
