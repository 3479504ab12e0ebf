import { setTimeout as pass } from 'node:timers/promises';
import { type KnownLoad, SILENCE_MS_MAX } from './known-load.ts';
import type { OutageScenario } from './outage-scenario.ts';

/** A known key is believed for ten minutes without Postgres (contract, §2; architecture, §5). */
const BELIEVED_MS = 600_000;
export const LONG_OUTAGE_MS = BELIEVED_MS + 45_000;
/** The clock of a key begins with its last lookup, up to nine seconds before Postgres failed. */
const UNSURE_MS = 15_000;
const RESPONSE_TIMEOUT_MS = 5_000;

/** Before ten minutes of an outage known keys are acknowledged, after them they are 503 `unavailable`. */
export async function judgeLongOutage(
  scenario: OutageScenario,
  { load, outageAt }: { load: KnownLoad; outageAt: number },
): Promise<string[]> {
  const problems: string[] = [];
  await time(outageAt + BELIEVED_MS - UNSURE_MS);
  const early = await batch(scenario);
  if (!early.startsWith('200')) problems.push(`before ten minutes: ${early}`);
  const silentMs = load.longestSilenceMs();
  if (silentMs > SILENCE_MS_MAX) problems.push(`no acknowledgement for ${silentMs} ms`);
  await time(outageAt + BELIEVED_MS + UNSURE_MS);
  const late = await batch(scenario);
  if (!late.startsWith('503') || !late.includes('"unavailable"')) problems.push(`after ten minutes: ${late}`);
  return problems;
}

async function time(at: number): Promise<void> {
  await pass(Math.max(0, at - performance.now()));
}

async function batch({ instance }: OutageScenario): Promise<string> {
  const response = await fetch(`${instance.origin}/api/v1/usage/events/batch`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${instance.keys().live.secret}`,
      'content-type': 'application/json',
    },
    body: '{"events":[]}',
    signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS),
  });
  return `${response.status} ${await response.text()}`;
}
