-- The changes of one customer: of itself, and of what names it, such as its subscriptions and grants.
CREATE INDEX audit_log_of_customer
    ON audit_log (environment, (COALESCE(after->>'customerId', before->>'customerId', object_id)),
                  created_at DESC, id DESC);
