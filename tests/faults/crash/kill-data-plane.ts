import { performance } from 'node:perf_hooks';
import { setTimeout as pass } from 'node:timers/promises';
import { signal } from '../../../infra/platform/process-identity.ts';
import { during } from '../../support/during.ts';
import { type PlannedRequest, singleRequestOf } from '../../support/generator.ts';
import { itemOf, meanEvent } from '../../support/planned-event.ts';
import { sendAll } from '../../support/send.ts';
import { postRequest, readRawResponse } from '../raw-socket.ts';
import { sendOptions, sendReplays } from '../workload.ts';
import { startFiller } from './filler.ts';
import { type Kill, mustBeAnother, type SeenOfKill } from './kill-scenario.ts';

/** Three of four kills come with a response, the others at any time. */
const ANYTIME_EVERY = 4;

export async function killDataPlane(kill: Kill): Promise<SeenOfKill> {
  const { scenario, workload, random, nth } = kill;
  const { instance, judged } = scenario;
  await scenario.moreResponses(20 + random.below(300));
  const pid = instance.pid('data plane');
  const isAnytime = nth % ANYTIME_EVERY === ANYTIME_EVERY - 1;
  const { probe, responded } = await (isAnytime ? killAnytime(kill, pid) : killWithResponse(kill, pid));

  const killedAt = performance.now();
  await sendAll([probe], sendOptions(judged));
  scenario.restartedAt = performance.now();
  mustBeAnother(instance, 'data plane', pid);
  const replaysOfAcknowledged = await sendReplays(judged, [...workload.recent(), probe], random);
  const counts = { replaysOfAcknowledged, killsWithResponse: responded ? 1 : 0 };
  return { counts, peaks: { firstResponseMs: Math.round(scenario.restartedAt - killedAt) } };
}

/** The first request to the process that comes after. */
interface Probed {
  probe: PlannedRequest;
  /** It was acknowledged by the process that was killed with the response. */
  responded: boolean;
}

async function killAnytime({ workload, random }: Kill, pid: number): Promise<Probed> {
  const [newest] = workload.recent().slice(-1);
  if (!newest) throw new Error('no request received a response');
  await pass(random.below(40));
  if (!signal(pid, 'SIGKILL')) throw new Error(`process ${pid} had ended before it was killed`);
  return { probe: newest, responded: false };
}

/**
 * A kill at a random time hits the half millisecond between write and response once in a thousand kills. So
 * the kill comes with the response itself, while the server has more to do than to write: a response that
 * came too early is then still ahead of its write.
 */
async function killWithResponse({ scenario, workload, random, nth }: Kill, pid: number): Promise<Probed> {
  const { instance, judged, killer } = scenario;
  const port = Number(new URL(instance.origin).port);
  const key = instance.keys().live.secret;
  const scope = { world: judged.world, random, nowMs: Date.now(), responsesShowEvents: true };
  const known = workload.recent().flatMap(({ items }) => items.flatMap(({ event }) => event ?? []));
  const items = Array.from({ length: FILLER_ITEMS }, () => itemOf(random.pick(known), scope).json);
  const replays = postRequest('/api/v1/usage/events/batch', key, `{"events":[${items.join(',')}]}`);
  const filler = await startFiller(port, replays);

  const event = meanEvent(`kill-${random.below(1e9)}-${nth}`, scope);
  const request = singleRequestOf(event, scope);
  const named = `Idempotency-Key: ${request.items[0]?.echoedKey}`;
  const raw = postRequest('/api/v1/usage/events', key, request.body, [named]);
  const requestedAtMs = Date.now();
  const { done: arrived } = await during(filler, () => killer.fire({ port, pid, request: raw }));
  const response = readRawResponse(arrived);
  if (response) judged.ledger.responded(request, { ...response, requestedAtMs, respondedAtMs: Date.now() });
  else judged.ledger.withoutResponse(request);
  return { probe: request, responded: response?.status === 201 };
}

const FILLER_ITEMS = 500;
