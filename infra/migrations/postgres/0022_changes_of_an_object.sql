-- The audit log of one object, newest first: without it all changes of the environment are read.
CREATE INDEX audit_log_object ON audit_log (environment, object_id, created_at DESC, id DESC);
