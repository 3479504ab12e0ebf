import { performance } from 'node:perf_hooks';
import { setTimeout as pass } from 'node:timers/promises';
import { signal } from '../../../infra/platform/process-identity.ts';
import { during } from '../../support/during.ts';
import { type PlannedRequest, singleRequestOf } from '../../support/generator.ts';
import { itemOf, meanEvent } from '../../support/planned-event.ts';
import { sendAll } from '../../support/send.ts';
import { replaysOf } from '../replays.ts';
import { sendOptions } from '../workload.ts';
import { startBallast } from './filler.ts';
import { type Kill, mustBeAnother, type SeenOfKill } from './kill-scenario.ts';
import { rawRequest, readRawAnswer } from './raw-request.ts';

/** Three of four kills come with an answer, the others at any moment. */
const ANYTIME_EVERY = 4;

export async function killDataPlane(kill: Kill): Promise<SeenOfKill> {
  const { scene, storm, random, nth } = kill;
  const { instance, judged, watch } = scene;
  await watch.after(20 + random.below(300), () => undefined);
  const pid = instance.pid('data plane');
  const isAnytime = nth % ANYTIME_EVERY === ANYTIME_EVERY - 1;
  const { probe, answered } = await (isAnytime ? killAnytime(kill, pid) : killWithAnswer(kill, pid));

  const killedAt = performance.now();
  await sendAll([probe], sendOptions(judged));
  scene.restartedAt = performance.now();
  mustBeAnother(instance, 'data plane', pid);
  const replays = replaysOf([...storm.recent(), probe], { world: judged.world, random });
  const { items } = await sendAll(replays, sendOptions(judged));
  const counts = { replaysOfAcknowledged: items, killsWithAnAnswer: answered ? 1 : 0 };
  return { counts, peaks: { firstAnswerMs: Math.round(scene.restartedAt - killedAt) } };
}

/** What is asked first of the process that comes after. */
interface Probed {
  probe: PlannedRequest;
  /** It was acknowledged by the process that was killed with the answer. */
  answered: boolean;
}

async function killAnytime({ storm, random }: Kill, pid: number): Promise<Probed> {
  const [newest] = storm.recent().slice(-1);
  if (!newest) throw new Error('no request was answered');
  await pass(random.below(40));
  if (!signal(pid, 'SIGKILL')) throw new Error(`process ${pid} had ended before it was killed`);
  return { probe: newest, answered: false };
}

/**
 * A random moment hits the half millisecond between write and answer once in a thousand kills. So the kill
 * comes with the answer itself, while the server has more to do than to write: an answer that came too early
 * is then still ahead of its write.
 */
async function killWithAnswer({ scene, storm, random }: Kill, pid: number): Promise<Probed> {
  const { instance, judged, killer, key } = scene;
  const { origin } = instance;
  const at = { origin, key, port: Number(new URL(origin).port) };
  const scope = { world: judged.world, random, nowMs: Date.now(), answersShowEvents: true };
  const known = storm.recent().flatMap(({ items }) => items.flatMap(({ event }) => event ?? []));
  const items = Array.from({ length: BALLAST_ITEMS }, () => itemOf(random.pick(known), scope).json);
  const body = `{"events":[${items.join(',')}]}`;
  const ballast = await startBallast(at.port, rawRequest({ ...at, path: '/usage/events/batch', body }));

  const request = singleRequestOf(meanEvent(`kill-${random.below(1e9)}-${scene.past.length}`, scope), scope);
  const headers = { 'idempotency-key': request.items[0]?.echoedKey ?? '' };
  const raw = rawRequest({ ...at, path: '/usage/events', body: request.body, headers });
  const askedAtMs = Date.now();
  const { done: arrived } = await during(ballast, () => killer.fire({ port: at.port, pid, request: raw }));
  const answer = readRawAnswer(arrived);
  if (answer) judged.ledger.answered(request, { ...answer, askedAtMs, answeredAtMs: Date.now() });
  else judged.ledger.unanswered(request);
  return { probe: request, answered: answer?.status === 201 };
}

const BALLAST_ITEMS = 500;
