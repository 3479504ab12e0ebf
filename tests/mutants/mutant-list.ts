import { CHANGE_MUTANTS } from './changes-mutants.ts';
import { CLIENT_MUTANTS } from './client-mutants.ts';
import { CORRECTED_READS_MUTANTS } from './corrected-reads-mutants.ts';
import { CORRECTION_LOAD_MUTANTS } from './correction-load-mutants.ts';
import { CORRECTION_MUTANTS } from './correction-mutants.ts';
import { CREDIT_MUTANTS } from './credits-mutants.ts';
import { DELIVERY_MUTANTS } from './delivery-mutants.ts';
import { DISTRIBUTED_LOAD_MUTANTS } from './distributed-load-mutants.ts';
import { DISTRIBUTED_MUTANTS } from './distributed-mutants.ts';
import { FUZZ_MUTANTS } from './fuzz-mutants.ts';
import { HOLD_MUTANTS } from './hold-mutants.ts';
import { INGEST_MUTANTS } from './ingest-mutants.ts';
import { LOAD_MUTANTS } from './load-mutants.ts';
import { LOG_MUTANTS } from './log-mutants.ts';
import type { Mutant } from './mutant.ts';
import { OUTAGE_MUTANTS } from './outage-mutants.ts';
import { REPAIR_MUTANTS } from './repair-mutants.ts';
import { RETENTION_MUTANTS } from './retention-mutants.ts';
import { TENANCY_MUTANTS } from './tenancy-mutants.ts';
import { UPGRADE_MUTANTS } from './upgrade-mutants.ts';
import { WIRES_MUTANTS } from './wires-mutants.ts';

/** Every mutant. docs/reliability-mutants.md names each with its promises. */
export const MUTANTS: readonly Mutant[] = [
  ...INGEST_MUTANTS,
  ...FUZZ_MUTANTS,
  ...LOG_MUTANTS,
  ...LOAD_MUTANTS,
  ...CORRECTED_READS_MUTANTS,
  ...CORRECTION_LOAD_MUTANTS,
  ...CORRECTION_MUTANTS,
  ...CREDIT_MUTANTS,
  ...OUTAGE_MUTANTS,
  ...REPAIR_MUTANTS,
  ...RETENTION_MUTANTS,
  ...TENANCY_MUTANTS,
  ...UPGRADE_MUTANTS,
  ...CHANGE_MUTANTS,
  ...HOLD_MUTANTS,
  ...DELIVERY_MUTANTS,
  ...CLIENT_MUTANTS,
  ...DISTRIBUTED_MUTANTS,
  ...DISTRIBUTED_LOAD_MUTANTS,
  ...WIRES_MUTANTS,
].map((row) => row.mutant);

/** Throws for a name that is not in the list. */
export function mutantNamed(name: string): Mutant {
  const found = MUTANTS.find((one) => one.name === name);
  if (!found) throw new Error(`There is no mutant called ${name}.`);
  return found;
}
