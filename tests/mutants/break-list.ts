import { AGGREGATOR_BREAKS } from './aggregator-breaks.ts';
import { AWAY_BREAKS } from './away-breaks.ts';
import type { Break } from './break.ts';
import { CHANGES_BREAKS } from './changes-breaks.ts';
import { CLAIM_BREAKS } from './claim-breaks.ts';
import { DELIVERY_BREAKS } from './delivery-breaks.ts';
import { DOOR_BREAKS } from './door-breaks.ts';
import { FANOUT_BREAKS } from './fanout-breaks.ts';
import { FAST_DOOR_BREAKS } from './fast-door-breaks.ts';
import { HOSTILE_BREAKS } from './hostile-breaks.ts';
import { INGEST_BREAKS } from './ingest-breaks.ts';
import { LOG_BREAKS } from './log-breaks.ts';
import { MONEY_BREAKS } from './money-breaks.ts';
import { POWER_BREAKS } from './power-breaks.ts';
import { REPAIR_BREAKS } from './repair-breaks.ts';
import { RETENTION_BREAKS } from './retention-breaks.ts';
import { SENDING_BREAKS } from './sending-breaks.ts';
import { SHARED_BREAKS } from './shared-breaks.ts';
import { SHARED_LOAD_BREAKS } from './shared-load-breaks.ts';
import { TENANCY_BREAKS } from './tenancy-breaks.ts';
import { UPGRADE_BREAKS } from './upgrade-breaks.ts';

/** Every break there is, in a file per room. RELIABILITY.md names each in the rows of its promises. */
export const BREAKS: readonly Break[] = [
  ...INGEST_BREAKS,
  ...FAST_DOOR_BREAKS,
  ...HOSTILE_BREAKS,
  ...DOOR_BREAKS,
  ...LOG_BREAKS,
  ...AGGREGATOR_BREAKS,
  ...MONEY_BREAKS,
  ...AWAY_BREAKS,
  ...POWER_BREAKS,
  ...REPAIR_BREAKS,
  ...RETENTION_BREAKS,
  ...TENANCY_BREAKS,
  ...UPGRADE_BREAKS,
  ...CHANGES_BREAKS,
  ...FANOUT_BREAKS,
  ...DELIVERY_BREAKS,
  ...SENDING_BREAKS,
  ...SHARED_BREAKS,
  ...SHARED_LOAD_BREAKS,
  ...CLAIM_BREAKS,
];

/** Throws for a name that is not in the list. */
export function breakNamed(name: string): Break {
  const found = BREAKS.find((one) => one.name === name);
  if (!found) throw new Error(`There is no break called ${name}.`);
  return found;
}
