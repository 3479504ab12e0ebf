-- How many looks, or pieces of one, of a job came to their end. A number and no moment: clocks are put right.
ALTER TABLE job_leases ADD COLUMN runs bigint NOT NULL DEFAULT 0;

-- Which warehouse the counters of this database are in, and how often it was stamped: each stamp is written
-- there first, so that one that is missing, older or another's is told from it.
CREATE TABLE warehouse_stamps (
  only_one  boolean PRIMARY KEY DEFAULT true CHECK (only_one),
  id        text NOT NULL,
  stamp     bigint NOT NULL
);
