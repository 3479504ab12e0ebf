import { deepStrictEqual } from 'node:assert';
import fc from 'fast-check';
import { type EnginePair, openEnginePair, respondTo } from '../../../ingest/engine/engine-pair-under-test.ts';
import { REQUESTS } from '../../../ingest/engine/random-requests-under-test.ts';
import { createWasmModule } from '../../../ingest/engine/wasm/wasm-module.ts';
import type { FaultPromise, Round, RoundReport } from '../promise.ts';

/**
 * The long form of the fuzz between the two engines: random requests, each sent twice to either, with the
 * responses, records and lines compared byte by byte.
 */
export const enginesEqual: FaultPromise = {
  name: 'engines',
  // No row of the table.
  promises: [0],
  title: 'the wasm engine and the js engine write the same bytes for a million requests',
  rounds: { short: 1, long: 100 },
  open: async () => ({ round: compareEngines }),
};

/** Fresh stores for so many: keys of earlier rounds do not turn all of them into replays. */
const BODIES_A_ROUND = 10_000;

async function compareEngines({ seed }: Round): Promise<RoundReport> {
  const pair = await openEnginePair();
  try {
    return await compare(pair, seed);
  } finally {
    await pair.close();
  }
}

async function compare({ plain, fast }: EnginePair, seed: number): Promise<RoundReport> {
  const module = createWasmModule();
  const counts = { bodies: 0, readByWasmEngine: 0 };
  const property = fc.asyncProperty(REQUESTS, async (request) => {
    counts.bodies++;
    if (module.read(request) > 0) counts.readByWasmEngine++;
    for (const sent of ['once', 'again'])
      deepStrictEqual(await respondTo(fast, request), await respondTo(plain, request), `sent ${sent}`);
  });
  const found = await fc.check(property, { seed, numRuns: BODIES_A_ROUND });
  const problems = found.failed ? [fc.defaultReportMessage(found) ?? 'the engines differ'] : [];
  return { counts, problems };
}
