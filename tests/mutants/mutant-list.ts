import { AGGREGATOR_MUTANTS } from './aggregator-mutants.ts';
import { CHANGES_MUTANTS } from './changes-mutants.ts';
import { CLAIM_MUTANTS } from './claim-mutants.ts';
import { POWER_MUTANTS } from './crash-consistency-mutants.ts';
import { DELIVERY_MUTANTS } from './delivery-mutants.ts';
import { DISTRIBUTED_LOAD_MUTANTS } from './distributed-load-mutants.ts';
import { DISTRIBUTED_MUTANTS } from './distributed-mutants.ts';
import { FANOUT_MUTANTS } from './fanout-mutants.ts';
import { DOOR_MUTANTS } from './fast-path-mutants.ts';
import { FUZZ_MUTANTS } from './fuzz-mutants.ts';
import { INGEST_MUTANTS } from './ingest-mutants.ts';
import { LOG_MUTANTS } from './log-mutants.ts';
import { MONEY_MUTANTS } from './money-mutants.ts';
import type { Mutant } from './mutant.ts';
import { OUTAGE_MUTANTS } from './outage-mutants.ts';
import { REPAIR_MUTANTS } from './repair-mutants.ts';
import { RETENTION_MUTANTS } from './retention-mutants.ts';
import { SENDING_MUTANTS } from './sending-mutants.ts';
import { TENANCY_MUTANTS } from './tenancy-mutants.ts';
import { UPGRADE_MUTANTS } from './upgrade-mutants.ts';
import { WASM_ENGINE_MUTANTS } from './wasm-engine-mutants.ts';

/** Every mutant, in a file per room. docs/reliability-mutants.md names each with its promises. */
export const MUTANTS: readonly Mutant[] = [
  ...INGEST_MUTANTS,
  ...WASM_ENGINE_MUTANTS,
  ...FUZZ_MUTANTS,
  ...DOOR_MUTANTS,
  ...LOG_MUTANTS,
  ...AGGREGATOR_MUTANTS,
  ...MONEY_MUTANTS,
  ...OUTAGE_MUTANTS,
  ...POWER_MUTANTS,
  ...REPAIR_MUTANTS,
  ...RETENTION_MUTANTS,
  ...TENANCY_MUTANTS,
  ...UPGRADE_MUTANTS,
  ...CHANGES_MUTANTS,
  ...FANOUT_MUTANTS,
  ...DELIVERY_MUTANTS,
  ...SENDING_MUTANTS,
  ...DISTRIBUTED_MUTANTS,
  ...DISTRIBUTED_LOAD_MUTANTS,
  ...CLAIM_MUTANTS,
];

/** Throws for a name that is not in the list. */
export function mutantNamed(name: string): Mutant {
  const found = MUTANTS.find((one) => one.name === name);
  if (!found) throw new Error(`There is no mutant called ${name}.`);
  return found;
}
