-- How far a log has been given up. The data plane raises `kept_from` first and removes segments afterwards;
-- whoever reads the log begins there. `events`: stored ones that stood before it, `through_ms`: they were
-- committed up to then. `held_by` names a repair that needs what is still there: while it is set nothing more
-- is given up, also when the repair did not end.
CREATE TABLE log_trims (
  log_id      text NOT NULL,
  partition   integer NOT NULL,
  kept_from   bigint NOT NULL DEFAULT 0,
  events      bigint NOT NULL DEFAULT 0,
  through_ms  bigint NOT NULL DEFAULT 0,
  held_by     text,
  PRIMARY KEY (log_id, partition)
);

CREATE INDEX audit_runs_finished ON audit_runs (finished_at);
