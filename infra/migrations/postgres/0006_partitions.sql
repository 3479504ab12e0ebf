-- Which log a topic of Kafka is: made when it is first used. `marks`: where the birth mark of each partition
-- stands, so that a topic that was made anew under its name is told from it.
CREATE TABLE kafka_logs (
  topic       text PRIMARY KEY,
  log_id      text NOT NULL UNIQUE,
  marks       bigint[] NOT NULL,
  created_at  timestamptz NOT NULL DEFAULT now()
);

-- What the shared key store was when it was last seen, and until when what it claims is looked up before it
-- is counted, because it has lost keys. One row.
CREATE TABLE key_stores (
  name         text PRIMARY KEY,
  birth        text NOT NULL,
  run_id       text NOT NULL,
  young_until  timestamptz NOT NULL DEFAULT now()
);

-- Aggregators that share the partitions of a log: each takes its fair share of them.
CREATE TABLE load_members (
  log_id      text NOT NULL,
  owner       text NOT NULL,
  expires_at  timestamptz NOT NULL,
  PRIMARY KEY (log_id, owner)
);
