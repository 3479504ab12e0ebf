import { breakRounds, singleBreaks } from '../mutants/break-rounds.ts';
import { changesKilled } from './changes/change-rounds.ts';
import { dataPlaneKilled, othersKilled } from './crash/kill-rounds.ts';
import { boundedMemory } from './crash/memory-rounds.ts';
import { quickRestart } from './crash/restart-rounds.ts';
import { diskFull, diskGuarded } from './crash-consistency/disk-rounds.ts';
import { powerCutsOfAll, powerCutsOfLog } from './crash-consistency/power-rounds.ts';
import { writeErrors } from './crash-consistency/write-error-rounds.ts';
import { distributedExact } from './distributed/distributed-exact.ts';
import { distributedFaults } from './distributed/distributed-rounds.ts';
import { distributedAnswersLost } from './distributed/lost-answers.ts';
import { fanoutKilled } from './fan-out/fanout-rounds.ts';
import { hostileBytes } from './fuzz/hostile-bytes.ts';
import { storesAway } from './outage/stores-away.ts';
import { unknownOutcomes } from './outage/unknown-outcomes.ts';
import type { TorturePromise } from './promise.ts';
import { logGivenUp } from './retention/retention-rounds.ts';
import { settlementKilled } from './settlement/settlement-rounds.ts';
import { upgradesKilled } from './upgrade/upgrade-rounds.ts';
import { deliveryKilled } from './webhooks/delivery-kills.ts';
import { webhookAnswersLost } from './webhooks/lost-answers.ts';
import { noisyNeighbours } from './webhooks/noisy-neighbours.ts';

const OF_THE_TABLE: readonly TorturePromise[] = [
  dataPlaneKilled,
  othersKilled,
  unknownOutcomes,
  webhookAnswersLost,
  storesAway,
  powerCutsOfAll,
  powerCutsOfLog,
  writeErrors,
  diskGuarded,
  diskFull,
  boundedMemory,
  quickRestart,
  hostileBytes,
  logGivenUp,
  upgradesKilled,
  changesKilled,
  settlementKilled,
  fanoutKilled,
  deliveryKilled,
  noisyNeighbours,
  distributedExact,
  distributedFaults,
  distributedAnswersLost,
];

/** Every promise that `npm run torture` runs, in the order it does. */
export const PROMISES: readonly TorturePromise[] = [...OF_THE_TABLE, breakRounds(OF_THE_TABLE)];

/** What it runs beside them where it is asked to. */
export const ON_WISH: readonly TorturePromise[] = singleBreaks(OF_THE_TABLE);
