import { type Api, type ApiResponse, callDone } from '../../support/api.ts';
import { during } from '../../support/during.ts';
import { seenInTime } from '../../support/in-time.ts';
import type { Instance, Role } from '../../support/instance.ts';
import { openInstance } from '../../support/open-instance.ts';
import type { Random } from '../../support/random.ts';
import { startSenders } from '../../support/senders.ts';
import type { FaultPromise, Round, RoundReport } from '../promise.ts';
import { postgresUrlOf, queryPostgres } from '../query-postgres.ts';
import { untilResponse } from '../until-response.ts';

/**
 * Rounds of holds, changes and releases by many callers of one customer, a kill -9 within them, and a look at
 * every reservation afterwards. All requests are repeated until their responses come, so that the ledger of
 * what was granted is whole.
 */
export const holdsKilled: FaultPromise = {
  promises: [24],
  title: 'the control side, Postgres and the supervisor are killed while callers reserve',
  rounds: { short: 3, long: 100 },
  async open({ onEnd }) {
    const { instance, api, close } = await openInstance({ LOG_LEVEL: 'warn' }, { connections: 2 * SENDERS });
    onEnd(close);
    const body = { key: 'calls', name: 'calls' };
    await callDone(api, 'POST', '/meters', { ...body, aggregation: 'sum' });
    await callDone(api, 'POST', '/features', { ...body, type: 'metered', meterKey: 'calls' });
    const { id } = await callDone(api, 'POST', '/plans', { productId: 'p', name: 'P' });
    const entitlements = [{ featureKey: 'calls', value: LIMIT }];
    await callDone(api, 'PUT', `/plans/${id}/entitlements`, { entitlements });
    return { round: (round) => killRound({ instance, api, planId: String(id) }, round) };
  },
};

const LIMIT = 100;
const SENDERS = 16;
const VICTIMS: readonly Role[] = ['control side', 'postgres', 'control side', 'supervisor'];
const RESPONSES_BEFORE = { least: 50, most: 200 };
const RESPONSES_AFTER = 100;
/** Of the holds that were granted: sent again after the response. */
const REPLAYED_SHARE = 0.15;
const PATIENCE = { timeoutMs: 60_000, everyMs: 5 };

interface Held {
  id: string;
  amount: number;
  status: 'held' | 'released';
}

async function killRound(
  { instance, api, planId }: { instance: Instance; api: Api; planId: string },
  { number, random, run }: Round,
): Promise<RoundReport> {
  const victim = VICTIMS[number % VICTIMS.length] ?? 'control side';
  const customer = { name: run, email: 'holds@example.com' };
  const customerId = String((await callDone(api, 'POST', '/customers', customer)).id);
  await callDone(api, 'POST', '/subscriptions', { customerId, planId });
  const workload = startHolds(api, { customerId, run, random });
  const responses = (count: number) => {
    return seenInTime(() => workload.responded() >= count || undefined, PATIENCE, `${count} responses`);
  };
  const { summary } = await during(workload, async () => {
    await responses(RESPONSES_BEFORE.least + random.below(RESPONSES_BEFORE.most));
    await instance.kill(victim);
    const before = workload.responded();
    if (victim === 'supervisor') await instance.start();
    await responses(before + RESPONSES_AFTER);
  });
  const { granted, denied, repeated, problems } = summary;
  const counts = { [`kills of ${victim}`]: 1, holdsGranted: granted.length, denied, repeated };
  return { counts, problems: [...problems, ...(await judge(instance, customerId, granted))] };
}

/** What callers know of what they were granted. */
interface HoldLedger {
  granted: Held[];
  denied: number;
  repeated: number;
  problems: string[];
}

type Send = (
  method: 'POST' | 'PATCH',
  path: string,
  options?: { body?: object; key?: string },
) => Promise<ApiResponse>;

function startHolds(
  api: Api,
  { customerId, run, random }: { customerId: string; run: string; random: Random },
) {
  const ledger: HoldLedger = { granted: [], denied: 0, repeated: 0, problems: [] };
  let requested = 0;
  let responded = 0;

  function newKey(): string {
    requested += 1;
    return `${run}-${requested}`;
  }

  const send: Send = async (method, path, { body, key = newKey() } = {}) => {
    const headers = { 'idempotency-key': key };
    const options = { headers, ...(body ? { body: JSON.stringify(body) } : {}) };
    const isOpen = ({ status, body: found }: ApiResponse) =>
      status === 503 || JSON.stringify(found ?? {}).includes('idempotency_key_in_use');
    const { response, repeats } = await untilResponse(() => api.call(method, path, options), path, isOpen);
    responded += 1;
    ledger.repeated += repeats;
    if (response.status >= 300) ledger.problems.push(`${method} ${path} returned ${response.status}`);
    return response;
  };

  const senders = startSenders({
    senders: SENDERS,
    summary: ledger,
    async send() {
      const held = ledger.granted.filter(({ status }) => status === 'held');
      if (held.length > 0 && random.chance(0.5))
        await endOrChange(random.pick(held), ledger, { send, random });
      else await hold(customerId, ledger, { send, random, key: newKey() });
    },
  });
  return { ...senders, responded: () => responded };
}

async function hold(
  customerId: string,
  ledger: HoldLedger,
  { send, random, key }: { send: Send; random: Random; key: string },
): Promise<void> {
  const amount = 1 + random.below(5);
  const body = { customerId, featureKey: 'calls', amount, expiresInSeconds: 3_600 };
  const { status, body: made } = await send('POST', '/reservations', { body, key });
  if (status !== 201) {
    ledger.denied += 1;
    return;
  }
  const { id } = made as Held;
  if (random.chance(REPLAYED_SHARE)) {
    const again = (await send('POST', '/reservations', { body, key })).body as Held;
    if (again.id !== id) ledger.problems.push(`${again.id} was made for the key of ${id}`);
  }
  ledger.granted.push({ id, amount, status: 'held' });
}

/** No other sender ends or changes the same one meanwhile. */
async function endOrChange(
  one: Held,
  { granted }: HoldLedger,
  { send, random }: { send: Send; random: Random },
): Promise<void> {
  granted.splice(granted.indexOf(one), 1);
  if (random.chance(0.2) && one.amount > 1) {
    await send('PATCH', `/reservations/${one.id}`, { body: { amount: one.amount - 1 } });
    one.amount -= 1;
  } else {
    await send('POST', `/reservations/${one.id}/release`);
    one.status = 'released';
  }
  granted.push(one);
}

interface Stored {
  id: string;
  amount: number;
  status: string;
}

/** Every reservation is one that a caller knows, as it knows it; their sum is in the account and fits. */
async function judge(instance: Instance, customerId: string, granted: Held[]): Promise<string[]> {
  const url = postgresUrlOf(instance);
  const stored = await queryPostgres<Stored>(
    url,
    'SELECT id, amount::float AS amount, status FROM reservations WHERE customer_id = $1',
    [customerId],
  );
  const [account] = await queryPostgres<{ held: number }>(
    url,
    'SELECT held::float AS held FROM reserved_amounts WHERE customer_id = $1',
    [customerId],
  );
  const known = new Map(granted.map((one) => [one.id, one]));
  const problems = stored.flatMap(({ id, amount, status }) => {
    const one = known.get(id);
    known.delete(id);
    if (!one) return [`${id} holds ${amount}, which no caller was granted`];
    const isSame = one.amount === amount && one.status === status;
    return isSame ? [] : [`${id} is ${status} with ${amount}, and not ${one.status} with ${one.amount}`];
  });
  for (const id of known.keys()) problems.push(`${id} was granted and is gone`);
  const open = stored.reduce((sum, { amount, status }) => sum + (status === 'held' ? amount : 0), 0);
  if (open !== (account?.held ?? 0))
    problems.push(`the account holds ${account?.held}, and ${open} are open`);
  if (open > LIMIT) problems.push(`${open} are held of a limit of ${LIMIT}`);
  return problems;
}
