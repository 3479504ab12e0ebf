import { storesAway } from './away/stores-away.ts';
import { unknownOutcomes } from './away/unknown-outcomes.ts';
import { breakRounds, singleBreaks } from './breaks/break-rounds.ts';
import { changesKilled } from './changes/change-rounds.ts';
import { distributedExact } from './distributed/distributed-exact.ts';
import { distributedFaults } from './distributed/distributed-rounds.ts';
import { distributedAnswersLost } from './distributed/lost-answers.ts';
import { fanoutKilled } from './fanout/fanout-rounds.ts';
import { hostileBytes } from './hostile/hostile-bytes.ts';
import { dataPlaneKilled, othersKilled } from './kill-rounds.ts';
import { boundedMemory } from './memory-rounds.ts';
import { diskFull, diskGuarded } from './power/disk-rounds.ts';
import { powerCutsOfAll, powerCutsOfLog } from './power/power-rounds.ts';
import { writeErrors } from './power/write-error-rounds.ts';
import type { TorturePromise } from './promise.ts';
import { quickRestart } from './restart-rounds.ts';
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
