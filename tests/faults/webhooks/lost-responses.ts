import { during } from '../../support/during.ts';
import { seenInTime } from '../../support/in-time.ts';
import { type Fault, startTcpProxy, type TcpProxy } from '../../support/proxy/tcp-proxy.ts';
import { createRandom, type Random } from '../../support/random.ts';
import type { ReceivedEvent } from '../../support/webhook-receiver.ts';
import { type FaultPromise, type RoundReport, roundSeed } from '../promise.ts';
import { startCustomerWorkload } from './customer-workload.ts';
import { openWebhookScenario, register, type WebhookScenario } from './webhook-scenario.ts';

/** Promise 5 on the last hop: an event whose response is lost on the way comes again, and is the same one. */
export const webhookResponsesLost: FaultPromise = {
  promises: [5],
  title: 'responses are lost between delivery and receiver',
  rounds: { short: 1, long: 20 },
  async open({ seed, form }) {
    const received = new Map<string, ReceivedEvent[]>();
    const scenario = await openWebhookScenario({
      connections: 2 * SENDERS,
      onEvent(event) {
        received.set(event.eventId, [...(received.get(event.eventId) ?? []), event]);
        return { status: 200 };
      },
    });
    const losses = createLosses();
    const { hostname: host, port } = new URL(scenario.receiver.url(''));
    const proxy = await startTcpProxy({ target: () => ({ host, port: Number(port) }), fault: losses.fault });
    const end = async (keep: boolean) => {
      await proxy.close();
      return await scenario.close({ keep });
    };
    try {
      await register(scenario.api, `http://127.0.0.1:${proxy.port}/hook`);
    } catch (error) {
      await end(false);
      throw error;
    }
    const world: LossWorld = { ...scenario, proxy, losses, received };
    return {
      round: (number) =>
        loseResponses(world, { run: `l${seed}-${number}-${Date.now()}`, form, seed, number }),
      close: ({ keep }) => end(keep),
    };
  },
};

const SENDERS = 6;
const RESPONSES_LOST_PER_ROUND = { short: 20, long: 25 };
const SHARE = 0.3;
const FAULTS: readonly Fault[] = [
  { kind: 'swallow' },
  { kind: 'swallow' },
  { kind: 'cut', bytes: 20 },
  { kind: 'cut', bytes: 90 },
  { kind: 'lose' },
];
const PATIENCE = { timeoutMs: 40_000 };

interface LossWorld extends WebhookScenario {
  proxy: TcpProxy;
  losses: Losses;
  received: Map<string, ReceivedEvent[]>;
}

interface LossRound {
  run: string;
  form: 'short' | 'long';
  seed: number;
  number: number;
}

type Losses = ReturnType<typeof createLosses>;

const EVENT_ID = /^webhook-id: *(\S+)/im;

/** Each event loses one response at most: the third attempt would come minutes later. */
function createLosses() {
  const lost = new Set<string>();
  let random: Random | undefined;
  return {
    /** Ids of events that lost one. */
    lost,
    /** From now on; undefined: everything passes. */
    arm(drawn: Random | undefined): void {
      random = drawn;
    },
    fault(request: Buffer): Fault | undefined {
      const [, eventId] = EVENT_ID.exec(request.toString('latin1')) ?? [];
      if (!random || eventId === undefined || lost.has(eventId) || !random.chance(SHARE)) return undefined;
      lost.add(eventId);
      return random.pick(FAULTS);
    },
  };
}

async function loseResponses(world: LossWorld, { run, form, seed, number }: LossRound): Promise<RoundReport> {
  const { api, proxy, losses, received } = world;
  const customers = new Set<string>();
  const before = responsesLost(proxy);
  const lostBefore = new Set(losses.lost);
  received.clear();
  losses.arm(createRandom(roundSeed(seed, number)));
  const workload = startCustomerWorkload(api, {
    run,
    senders: SENDERS,
    onCreated: (id) => void customers.add(id),
  });
  await during(workload, async () => {
    const isEnough = () => responsesLost(proxy) - before >= RESPONSES_LOST_PER_ROUND[form];
    await seenInTime(() => isEnough() || undefined, PATIENCE, 'lost responses');
  });
  losses.arm(undefined);
  const lost = [...losses.lost].filter((id) => !lostBefore.has(id));
  const isNotified = () => missing(customers, received).length === 0 && notAgain(lost, received).length === 0;
  // What is still missing then is named in the problems.
  await seenInTime(() => isNotified() || undefined, { ...PATIENCE, everyMs: 100 }, 'all events').catch(
    () => 0,
  );
  const problems = [
    ...missing(customers, received).map((id) => `no endpoint received ${id}`),
    ...notAgain(lost, received).map((id) => `${id} was not sent again`),
    ...[...received.values()]
      .filter(isChanged)
      .map(([first]) => `${first?.eventId} was sent with other bytes`),
    ...[...received]
      .filter(([id, all]) => all.length > 1 && !lost.includes(id))
      .map(([id]) => `${id} came twice`),
    ...doubledCustomers(received),
  ];
  const counts = { responsesLostOfReceiver: responsesLost(proxy) - before, eventsSentAgain: lost.length };
  return { counts: { ...counts, customersAcknowledged: customers.size }, problems };
}

function responsesLost(proxy: TcpProxy): number {
  const { swallow, cut, hang } = proxy.done();
  return swallow + cut + hang;
}

function missing(customers: Set<string>, received: LossWorld['received']): string[] {
  const notified = new Set([...received.values()].flatMap(([first]) => (first ? [customerOf(first)] : [])));
  return [...customers].filter((id) => !notified.has(id));
}

/** An attempt whose response was lost came once more, as a second attempt: one lost itself came once. */
function notAgain(lost: readonly string[], received: LossWorld['received']): string[] {
  return lost.filter((id) => !received.get(id)?.some(({ attempt }) => attempt > 1));
}

function isChanged([first, ...rest]: ReceivedEvent[]): boolean {
  return rest.some(({ body }) => body !== first?.body);
}

/** One change is one event: a second id for it would be counted twice by its receiver. */
function doubledCustomers(received: LossWorld['received']): string[] {
  const ids = [...received.values()].flatMap(([first]) => (first ? [customerOf(first)] : []));
  return ids.filter((id, at) => ids.indexOf(id) !== at).map((id) => `${id} was sent under two ids`);
}

function customerOf({ body }: ReceivedEvent): string {
  return (JSON.parse(body) as { data: { customerId: string } }).data.customerId;
}
