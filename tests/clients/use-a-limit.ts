/**
 * A program that uses a limit which it shares with others, decided in its process: at a steady rate, one at a
 * time, until nothing was allowed for a while. It sends `ready` to the process that started it, begins at a
 * message, and sends when it used how much and what it knew.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { createClient } from '../../sdk/node/src/client/client.ts';
import { createEntitlements } from '../../sdk/node/src/entitlements/check.ts';
import { createMeter } from '../../sdk/node/src/meter/meter.ts';

const { LIMIT_URL: url = '', LIMIT_KEY: apiKey = '', LIMIT_CUSTOMER: customerId = '' } = process.env;
const PER_SECOND = Number(process.env.LIMIT_PER_SECOND);
/** Longer than a change takes. */
const DENIED_MS = 4_000;
const FEATURE = 'shared';

const meter = createMeter({ url, apiKey });
const entitlements = createEntitlements({ client: createClient({ url, apiKey }), isLocal: true, meter });
const check = () => entitlements.check({ customerId, featureKey: FEATURE });
while ((await check()).source !== 'local') await pause(10);

process.send?.('ready');
await new Promise((resolve) => process.once('message', resolve));

/** Of the clock that all processes have. */
const usedAtMs: number[] = [];
/** Of the last use: all that was acknowledged before was counted when it was allowed. */
let knownToMs = 0;
const sources: Record<string, number> = {};
const beganAtMs = performance.now();
for (let deniedAtMs = Number.POSITIVE_INFINITY; performance.now() - deniedAtMs < DENIED_MS; ) {
  const { allowed, source, asOf = '' } = await check();
  sources[source] = (sources[source] ?? 0) + 1;
  if (allowed) {
    meter.track({ customerId, meterId: FEATURE, value: 1 });
    usedAtMs.push(Date.now());
    knownToMs = Date.parse(asOf);
    deniedAtMs = Number.POSITIVE_INFINITY;
  } else deniedAtMs = Math.min(deniedAtMs, performance.now());
  const dueAtMs = beganAtMs + (usedAtMs.length * 1_000) / PER_SECOND;
  await pause(Math.max(1, dueAtMs - performance.now()));
}
entitlements.close();
const { waiting } = await meter.close();
process.send?.({ usedAtMs, knownToMs, sources, waiting });
process.disconnect();
