/** The names that `/readyz` can report. docs/operate/monitoring.md has a line for each, held by a test. */

/** `checks` of the control plane. */
export const CONTROL_CHECKS = [
  'postgres',
  'warehouse',
  'lag',
  'partitions',
  'quarantine',
  'audit',
  'outbox',
  'jobs',
] as const;
export type ControlCheck = (typeof CONTROL_CHECKS)[number];

/** `checks` of a role that is a process of its own: `load` of the aggregator, `delivery` of delivery. */
export const ROLE_CHECKS = ['postgres', 'warehouse', 'log', 'load', 'delivery'] as const;
export type RoleCheck = (typeof ROLE_CHECKS)[number];

/** In place of the control plane's checks, while it does not respond to the data plane. */
export const CONTROL_UNREACHABLE = 'control';

/** `dataPlane`: what keeps the data plane from accepting usage. */
export const DATA_PLANE_BLOCKERS = ['opening', 'disk', 'log'] as const;
export type DataPlaneBlocker = (typeof DATA_PLANE_BLOCKERS)[number];
