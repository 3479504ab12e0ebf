/**
 * `npm run bench:bodies`: what bodies of every slow kind cost per byte, relative to ordinary ones that are
 * read in turns with them, through both engines. Prints and stores figures; asserts nothing. `-- --seconds N`
 * for each kind.
 */

import type { EngineHarness } from '../../infra/ports/conformance/engine-harness.ts';
import { openEnginePair, requestOf } from '../../ingest/engine/engine-pair-under-test.ts';
import { numberOption, OF_A_SCRIPT, readOptions, runScript } from '../read-options.ts';
import { keepResult } from '../result-file.ts';
import { median, rounded } from '../suite/paired.ts';
import { type Body, bodyKinds } from './body-kinds.ts';

const OPTIONS = { seconds: { type: 'string', default: '1' } } as const;
const WARM_UP_MS = 100;
const TURN_MS = 40;

interface Cost {
  kind: string;
  bytes: number;
  /** CPU of one request. */
  ms: number;
  /** CPU per byte, relative to the ordinary one. */
  ratio: number;
}

async function main(): Promise<void> {
  const durationMs = 1_000 * numberOption('seconds', readOptions(OPTIONS).seconds, OF_A_SCRIPT.seconds);
  const { fast, close } = await openEnginePair();
  try {
    const { ordinary, ...kinds } = bodyKinds();
    if (!ordinary) return;
    await store(fast, ordinary);
    const costs: Cost[] = [];
    for (const [kind, body] of Object.entries(kinds)) {
      await store(fast, body);
      costs.push({ kind, bytes: body.body.length, ...(await compare(fast, [ordinary, body], durationMs)) });
    }
    costs.sort((a, b) => b.ratio - a.ratio);
    for (const { kind, ratio, ms, bytes } of costs)
      process.stdout.write(`${String(ratio).padStart(7)} ${kind.padEnd(36)} ${ms} ms for ${bytes} B\n`);
    process.stdout.write(`${keepResult('bodies', { costs })}\n`);
  } finally {
    await close();
  }
}

/** Its keys are known from then on: what is measured is the same each time. */
async function store(harness: EngineHarness, body: Body): Promise<void> {
  const { commit } = harness.engine.decide(await harness.engine.read(requestOf(body)));
  if (commit) await harness.commit(commit);
  await costOf(harness, body, WARM_UP_MS);
}

async function compare(harness: EngineHarness, both: [Body, Body], durationMs: number) {
  const ratios: number[] = [];
  const times: number[] = [];
  for (const untilMs = performance.now() + durationMs; ratios.length < 3 || performance.now() < untilMs; ) {
    const [ordinary = Number.NaN, slow = Number.NaN] = [
      await costOf(harness, both[0], TURN_MS),
      await costOf(harness, both[1], TURN_MS),
    ];
    times.push(slow);
    ratios.push(slow / both[1].body.length / (ordinary / both[0].body.length));
  }
  return { ms: rounded(median(times)), ratio: rounded(median(ratios)) };
}

/** CPU of one request, milliseconds, of all threads: garbage is collected in others. */
async function costOf({ engine }: EngineHarness, body: Body, durationMs: number): Promise<number> {
  const request = requestOf(body);
  const before = process.cpuUsage();
  let count = 0;
  for (const untilMs = performance.now() + durationMs; count === 0 || performance.now() < untilMs; count++)
    engine.decide(await engine.read(request));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / count;
}

await runScript('bench:bodies', main);
