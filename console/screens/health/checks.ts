import type { ControlCheck, DataPlaneBlocker } from '../../../schemas/readiness-names.ts';

interface CheckWords {
  title: string;
  /** While it is well. */
  good: string;
  cure: string;
}

/** The checks of `/readyz` in words, with what to do when one fails. */
export const CHECKS: Record<ControlCheck | 'control', CheckWords> = {
  postgres: {
    title: 'Database',
    good: 'Postgres responds.',
    cure: 'Start or reach Postgres. Metergate reconnects by itself.',
  },
  warehouse: {
    title: 'Warehouse',
    good: 'ClickHouse responds.',
    cure: 'Start or reach ClickHouse. Usage is still accepted, and counted later.',
  },
  lag: {
    title: 'Counting',
    good: 'Accepted usage is counted within seconds.',
    cure: 'Look at Loading first. Without an alarm there the aggregator is down or too slow.',
  },
  partitions: {
    title: 'Loading',
    good: 'Every partition of the log is loaded without an alarm.',
    cure: 'The alarm names its code: docs/operate/monitoring.md says what to do for each.',
  },
  quarantine: {
    title: 'Quarantine',
    good: 'No event line is quarantined.',
    cure: 'Quarantined lines are not counted. Repair what they need, then run npm run audit -- --repair.',
  },
  audit: {
    title: 'Audit',
    good: 'The last audit left no difference.',
    cure: 'Run npm run audit -- --repair. After a failed repair strong reads respond 503 until one succeeds.',
  },
  outbox: {
    title: 'Webhook events',
    good: 'Every event gets its deliveries within a minute.',
    cure: 'Check that a delivery process runs and that Postgres responds.',
  },
  jobs: {
    title: 'Background jobs',
    good: 'Every job makes progress.',
    cure: 'Find "a job could not be done" in the logs. If there is none, restart the control planes.',
  },
  control: {
    title: 'Control plane',
    good: 'The control plane responds.',
    cure: 'It is starting or down: see its log.',
  },
};

/** What keeps usage from being accepted. */
export const BLOCKERS: Record<DataPlaneBlocker, string> = {
  opening: 'Wait, or start what it names.',
  disk: 'Free space, or lower LOG_RETENTION_DAYS. Usage is accepted again by itself.',
  log: "Look at the disk, or at Kafka's in-sync replicas.",
};
