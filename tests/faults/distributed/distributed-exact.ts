import { compareBreakdowns, compareCounters, compareEvents, compareFolded } from '../../support/compare.ts';
import { startInstallation } from '../../support/distributed-installation.ts';
import { planRequests } from '../../support/generator.ts';
import { lacking } from '../../support/machine-requirements.ts';
import { sendAll } from '../../support/send.ts';
import { type FaultPromise, roundSeed } from '../promise.ts';

/**
 * The main workload in distributed mode: every response, counter, breakdown and stored event against the
 * ledger.
 */
export const distributedExact: FaultPromise = {
  promises: [2, 3],
  title: 'a distributed installation counts exactly',
  rounds: { short: 1, long: 1 },
  lacks: () => lacking('ownServers'),
  async open({ seed, form }) {
    const installation = await startInstallation({ processes: 2, connections: CONNECTIONS });
    const { judged } = installation;
    return {
      async round(number) {
        const own = roundSeed(seed, number);
        const plan = { seed: own, items: ITEMS[form], run: `x${seed}-${number}`, nowMs: Date.now() };
        const requests = planRequests({ ...plan, world: judged.world });
        const sent = await sendAll(requests, {
          ...judged,
          connections: CONNECTIONS,
          patienceMs: PATIENCE_MS,
        });
        const problems = [
          ...judged.ledger.problems(),
          ...(await compareCounters(judged)),
          ...(await compareBreakdowns(judged)),
          ...(await compareFolded(judged)),
          ...(await compareEvents(judged)),
        ];
        return { counts: { itemsSent: sent.items, requestsRepeated: sent.repeated }, problems };
      },
      close: installation.close,
    };
  },
};

const ITEMS = { short: 20_000, long: 200_000 };
const CONNECTIONS = 12;
const PATIENCE_MS = 60_000;
