import { setTimeout as pass } from 'node:timers/promises';
import type { AwayScene } from './away-scene.ts';
import { type KnownLoad, SILENCE_MS_MAX } from './known-load.ts';

/** A known key is believed for ten minutes without Postgres (contract, §2; architecture, §5). */
const BELIEVED_MS = 600_000;
export const LONG_OUTAGE_MS = BELIEVED_MS + 45_000;
/** The clock of a key begins with its last look-up, up to nine seconds before Postgres went away. */
const UNSURE_MS = 15_000;
const ANSWER_TIMEOUT_MS = 5_000;

/** Before ten minutes of an outage known keys are acknowledged, after them they are 503 `unavailable`. */
export async function judgeLongOutage(
  scene: AwayScene,
  { load, awayAt }: { load: KnownLoad; awayAt: number },
): Promise<string[]> {
  const problems: string[] = [];
  await moment(awayAt + BELIEVED_MS - UNSURE_MS);
  const early = await batch(scene);
  if (!early.startsWith('200')) problems.push(`before ten minutes: ${early}`);
  const silentMs = load.longestSilenceMs();
  if (silentMs > SILENCE_MS_MAX) problems.push(`no acknowledgement for ${silentMs} ms`);
  await moment(awayAt + BELIEVED_MS + UNSURE_MS);
  const late = await batch(scene);
  if (!late.startsWith('503') || !late.includes('"unavailable"')) problems.push(`after ten minutes: ${late}`);
  return problems;
}

async function moment(at: number): Promise<void> {
  await pass(Math.max(0, at - performance.now()));
}

async function batch({ instance }: AwayScene): Promise<string> {
  const answer = await fetch(`${instance.origin}/api/v1/usage/events/batch`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${instance.keys().live.secret}`,
      'content-type': 'application/json',
    },
    body: '{"events":[]}',
    signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
  });
  return `${answer.status} ${await answer.text()}`;
}
