import { clientKilled } from '../clients/client-kill-rounds.ts';
import { NODE_CLIENT } from '../clients/node-client.ts';
import { PYTHON_CLIENT } from '../clients/python-client.ts';
import { mutantRounds, singleMutants } from '../mutants/mutant-rounds.ts';
import { changesKilled } from './changes/change-rounds.ts';
import { dataPlaneKilled, othersKilled } from './crash/kill-rounds.ts';
import { boundedMemory } from './crash/memory-rounds.ts';
import { quickRestart } from './crash/restart-rounds.ts';
import { diskFull, diskGuarded } from './crash-consistency/disk-rounds.ts';
import { powerCutsOfAll, powerCutsOfLog } from './crash-consistency/power-rounds.ts';
import { writeErrors } from './crash-consistency/write-error-rounds.ts';
import {
  distributedExact,
  distributedFaults,
  distributedResponsesLost,
} from './distributed/distributed-rounds.ts';
import { fanoutKilled } from './fan-out/fanout-rounds.ts';
import { columnsEqual } from './fuzz/column-rounds.ts';
import { enginesEqual } from './fuzz/engine-rounds.ts';
import { fuzzBytes } from './fuzz/fuzz-bytes.ts';
import { holdsKilled } from './holds/hold-rounds.ts';
import { storesUnavailable } from './outage/stores-unavailable.ts';
import { unknownOutcomes } from './outage/unknown-outcomes.ts';
import type { FaultPromise } from './promise.ts';
import { logGivenUp } from './retention/retention-rounds.ts';
import { recurringKilled } from './settlement/recurring-rounds.ts';
import { settlementKilled } from './settlement/settlement-rounds.ts';
import { upgradesKilled } from './upgrade/upgrade-rounds.ts';
import { deliveryKilled } from './webhooks/delivery-kills.ts';
import { webhookResponsesLost } from './webhooks/lost-responses.ts';
import { noisyNeighbours } from './webhooks/noisy-neighbours.ts';

const OF_THE_TABLE: readonly FaultPromise[] = [
  dataPlaneKilled,
  othersKilled,
  unknownOutcomes,
  webhookResponsesLost,
  storesUnavailable,
  powerCutsOfAll,
  powerCutsOfLog,
  writeErrors,
  diskGuarded,
  diskFull,
  boundedMemory,
  quickRestart,
  fuzzBytes,
  logGivenUp,
  upgradesKilled,
  changesKilled,
  holdsKilled,
  settlementKilled,
  recurringKilled,
  fanoutKilled,
  deliveryKilled,
  noisyNeighbours,
  clientKilled(NODE_CLIENT),
  clientKilled(PYTHON_CLIENT),
  distributedExact,
  distributedFaults,
  distributedResponsesLost,
];

/** Every promise that `npm run torture` runs, in the order it does. */
export const PROMISES: readonly FaultPromise[] = [...OF_THE_TABLE, mutantRounds(OF_THE_TABLE)];

/** What it runs in addition, on request. */
export const ON_WISH: readonly FaultPromise[] = [enginesEqual, columnsEqual, ...singleMutants(OF_THE_TABLE)];
