import { setTimeout as pass } from 'node:timers/promises';
import type { Api } from '../../support/api.ts';
import { during } from '../../support/during.ts';
import type { Instance, Role } from '../../support/instance.ts';
import { openInstance } from '../../support/open-instance.ts';
import { createRandom } from '../../support/random.ts';
import type { FaultOptions, FaultPromise, Round, RoundReport } from '../promise.ts';
import { createSettlementJudge, type SettlementJudge } from './judge-settlement.ts';
import {
  changeLimits,
  LIMITED_AMOUNTS,
  type LimitedWorld,
  limitsAtRest,
  makeLimitedWorld,
} from './limited-world.ts';
import {
  changeTokenRate,
  grantFirst,
  grantSome,
  makeRatedWorld,
  RATED_AMOUNTS,
  type RatedWorld,
} from './rated-world.ts';
import { correctAll, startUsageWorkload, type UsedEvent } from './usage-workload.ts';

/**
 * Usage that costs credits, on time and late across period bounds, with a rate that changes half-way; with
 * corrections, and limits that change in each round by plans, plan edits, overrides and cancellations. What
 * settles it is killed while it does. Every customer has in the end exactly what was granted less what all
 * acknowledged usage costs, and emitted one event for each depletion and each crossing.
 */
export const settlementKilled: FaultPromise = {
  promises: [21],
  title: 'the control side and Postgres are killed while usage burns credits and crosses thresholds',
  rounds: { short: 3, long: 25 },
  async open(options) {
    const environment = { LOG_LEVEL: 'warn', LOAD_LINGER_MS: '5' };
    const { instance, api, close } = await openInstance(environment, { connections: 8 });
    options.onEnd(close);
    const world = await makeRatedWorld(api);
    const limited = await makeLimitedWorld(api);
    const judge = createSettlementJudge(api, { world, limited });
    const scenario: Scenario = { instance, api, world, limited, judge, used: [], options };
    return { round: (round) => killRound(scenario, round), judge: () => judgeAgain(scenario) };
  },
};

interface Scenario {
  instance: Instance;
  api: Api;
  world: RatedWorld;
  limited: LimitedWorld;
  judge: SettlementJudge;
  /** Everything that was acknowledged. */
  used: UsedEvent[];
  options: FaultOptions;
}

/** The aggregator lives in the control side. */
const VICTIMS: readonly Role[] = [...Array<Role>(4).fill('control side'), 'postgres'];
/** Ranges are settled by then, and more are coming. */
const UNTIL_KILL_MS = { least: 300, most: 900 };
const AFTER_KILL_MS = 700;

async function killRound(scenario: Scenario, { number, seed, random, run }: Round): Promise<RoundReport> {
  const { instance, api, world, limited, judge, used, options } = scenario;
  const victim = VICTIMS[number % VICTIMS.length] ?? 'control side';
  const before = { used: used.length, depletions: judge.depletions() };
  // The first customer has so little in the first round that what is used first depletes it.
  if (number === 0) await grantFirst(api, world);
  const others = number === 0 ? world.customers.slice(1) : world.customers;
  await grantSome(api, others, { random, amounts: RATED_AMOUNTS });
  await grantSome(api, limited.customers, { random, amounts: LIMITED_AMOUNTS });
  const usage = { api, world, limited, random, run, used };
  const { summary } = await during(startUsageWorkload(usage), async () => {
    const changes = changeLimits(api, limited, createRandom(seed + 1));
    // Awaited below, whatever the kill comes to.
    changes.catch(() => undefined);
    await pass(UNTIL_KILL_MS.least + random.below(UNTIL_KILL_MS.most));
    if (number === Math.floor(options.rounds / 2)) await changeTokenRate(api, world);
    await instance.kill(victim);
    await pass(AFTER_KILL_MS);
    await changes;
  });
  await limitsAtRest(api, limited);
  const problems = await judge.settled(used);
  await correctAll(usage);
  problems.push(...(await judge.settled(used)));
  const counts = {
    [`kills of ${victim}`]: 1,
    eventsAcknowledged: used.length - before.used,
    requestsRepeated: summary.repeated,
    depletions: judge.depletions() - before.depletions,
  };
  return { counts, problems };
}

/** A further settlement, which happens each minute while there is usage, burns and emits nothing more. */
const SWEPT_MS = 65_000;

async function judgeAgain({ judge, used, options }: Scenario): Promise<RoundReport> {
  if (options.form === 'long') await pass(SWEPT_MS);
  return { counts: { eventsSettled: used.length }, problems: await judge.settled(used) };
}
