import { performance } from 'node:perf_hooks';
import { setTimeout as pass } from 'node:timers/promises';
import { type PlannedRequest, singleRequestOf } from '../generator.ts';
import { itemOf, meanEvent } from '../planned-event.ts';
import { sendAll } from '../send.ts';
import { startBallast } from './ballast.ts';
import type { Kill, SeenOfKill } from './kill-scene.ts';
import { rawRequest, readRawAnswer } from './raw-request.ts';
import { replaysOf } from './replays.ts';
import { sendOptions } from './storm.ts';

/** Three of four kills come with an answer, the others at any moment. */
export async function killDataPlane(kill: Kill): Promise<SeenOfKill> {
  const { scene, storm, random } = kill;
  const { judged, watch } = scene;
  const withAnswer = random.chance(0.75);
  await watch.after(20 + random.below(300), () => undefined);
  const probe = withAnswer ? await killWithAnswer(kill) : await killAnytime(kill);

  const killedAt = performance.now();
  await sendAll([probe], sendOptions(judged));
  scene.restartedAt = performance.now();
  const replays = replaysOf([...storm.recent(), probe], { world: judged.world, random });
  const { items } = await sendAll(replays, sendOptions(judged));
  const counts = { replaysOfAcknowledged: items, killsWithAnAnswer: withAnswer ? 1 : 0 };
  return { counts, peaks: { firstAnswerMs: Math.round(scene.restartedAt - killedAt) } };
}

async function killAnytime({ scene, storm, random }: Kill): Promise<PlannedRequest> {
  const [newest] = storm.recent().slice(-1);
  if (!newest) throw new Error('no request was answered');
  const pid = scene.instance.pid('data plane');
  await pass(random.below(40));
  process.kill(pid, 'SIGKILL');
  return newest;
}

/**
 * A random moment hits the half millisecond between write and answer once in a thousand kills. So the kill
 * comes with the answer itself, while the server has more to do than to write: an answer that came too early
 * is then still ahead of its write. Gives the request that was answered.
 */
async function killWithAnswer({ scene, storm, random }: Kill): Promise<PlannedRequest> {
  const { instance, judged, killer, key } = scene;
  const { origin } = instance;
  const at = { origin, key, port: Number(new URL(origin).port) };
  const scope = { world: judged.world, random, nowMs: Date.now(), answersShowEvents: true };
  const known = storm.recent().flatMap(({ items }) => items.flatMap(({ event }) => event ?? []));
  const items = Array.from({ length: BALLAST_ITEMS }, () => itemOf(random.pick(known), scope).json);
  const body = `{"events":[${items.join(',')}]}`;
  await startBallast(at.port, rawRequest({ ...at, path: '/usage/events/batch', body }));

  const request = singleRequestOf(meanEvent(`kill-${random.below(1e9)}-${scene.past.length}`, scope), scope);
  const headers = { 'idempotency-key': request.items[0]?.echoedKey ?? '' };
  const raw = rawRequest({ ...at, path: '/usage/events', body: request.body, headers });
  const askedAtMs = Date.now();
  const arrived = await killer.fire({ port: at.port, pid: instance.pid('data plane'), request: raw });
  const answer = readRawAnswer(arrived);
  if (answer) judged.ledger.answered(request, { ...answer, askedAtMs, answeredAtMs: Date.now() });
  else judged.ledger.unanswered(request);
  return request;
}

const BALLAST_ITEMS = 500;
