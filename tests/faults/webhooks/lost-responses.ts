import { pino } from 'pino';
import { createCloser } from '../../../infra/platform/closer.ts';
import { during } from '../../support/during.ts';
import { seenInTime } from '../../support/in-time.ts';
import { openHop } from '../../support/proxy/armed-proxy.ts';
import { createLosses } from '../../support/proxy/losses.ts';
import type { Fault } from '../../support/proxy/tcp-proxy.ts';
import type { FaultPromise } from '../promise.ts';
import {
  createNotifiedLedger,
  openWebhookScenario,
  register,
  startCustomerWorkload,
} from './webhook-scenario.ts';

/** Promise 5 on the last hop: an event whose response is lost on the way comes again, and is the same one. */
export const webhookResponsesLost: FaultPromise = {
  promises: [5],
  title: 'responses are lost between delivery and receiver',
  rounds: { short: 1, long: 20 },
  async open(options) {
    const { form, onEnd } = options;
    let ledger = createNotifiedLedger([ENDPOINT]);
    const { api, receiver } = await openWebhookScenario(options, {
      connections: 2 * SENDERS,
      onEvent(event) {
        ledger.received(event);
        return { status: 200 };
      },
      onResponded: (event, status) => ledger.responded(event, status),
    });
    const closer = createCloser(pino({ level: 'silent' }), { stepTimeoutMs: CLOSE_MS });
    onEnd(() => closer.close());
    const { hostname: host, port } = new URL(receiver.url(''));
    const hop = await openHop(closer, () => ({ host, port: Number(port) }));
    await register(api, `http://127.0.0.1:${hop.port}/${ENDPOINT}`);
    return {
      async round({ random, run }) {
        ledger = createNotifiedLedger([ENDPOINT]);
        const lost = new Set<string>();
        const losses = createLosses({
          ...{ hop, name: 'Receiver', random, share: SHARE, kinds: FAULTS },
          count: RESPONSES_LOST_PER_ROUND[form],
          // Each event loses one response at most: the third attempt would come minutes later.
          among: (request) => !lost.has(eventIdOf(request) ?? ''),
          onRequest(request, fault) {
            const eventId = eventIdOf(request);
            if (fault && eventId !== undefined) lost.add(eventId);
          },
        });
        const onCreated = ledger.acknowledged;
        const workload = startCustomerWorkload(api, { run, senders: SENDERS, onCreated });
        await during(workload, losses.enough);
        /** An attempt whose response was lost came once more, as a second one: one lost itself came once. */
        const notAgain = () => {
          const again = ledger.all().flatMap(({ requests }) => requests.filter(({ attempt }) => attempt > 1));
          const ids = new Set(again.map(({ eventId }) => eventId));
          return [...lost].filter((id) => !ids.has(id));
        };
        const isNotified = () => (ledger.isComplete() && notAgain().length === 0) || undefined;
        // What is still missing then is named in the problems.
        await seenInTime(isNotified, PATIENCE, 'all events').catch(() => undefined);
        const { counts, problems } = ledger.judge(({ eventId }) => lost.has(eventId));
        return {
          counts: { ...counts, ...losses.counts(), eventsSentAgain: lost.size },
          problems: [...problems, ...notAgain().map((id) => `${id} was not sent again`)],
        };
      },
    };
  },
};

const ENDPOINT = 'hook';
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
const PATIENCE = { timeoutMs: 40_000, everyMs: 100 };
const CLOSE_MS = 10_000;

const EVENT_ID = /^webhook-id: *(\S+)/im;

function eventIdOf(request: Buffer): string | undefined {
  return EVENT_ID.exec(request.toString('latin1'))?.[1];
}
