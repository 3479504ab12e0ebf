import type { Mutant } from './mutant.ts';

const TEST = 'ingest/engine/wasm/wasm-engine.test.ts';
const GUARDS_TEST = 'ingest/engine/wasm/wasm-guards.test.ts';

/** The wasm engine takes ordinary batches; what both engines share is mutated in ingest-mutants.ts. */
export const WASM_ENGINE_MUTANTS: readonly Mutant[] = [
  {
    name: 'batch-replay-before-its-flush',
    promises: [1],
    why: 'a batch of duplicates is acknowledged while the flush of their originals is still in flight',
    module: 'ingest/engine/wasm/wasm-engine',
    find: 'if (created === 0 && !waits) return undefined;',
    replace: 'if (created === 0) return undefined;',
    provedBy: [
      {
        test: GUARDS_TEST,
        title: 'that repeats one in flight waits for its commit',
      },
    ],
  },
  {
    name: 'batch-ids-random',
    promises: [2, 3, 5],
    why: 'a batch that is sent again is other events, and so is one of its events sent alone',
    module: 'ingest/engine/wasm/wasm-engine',
    find: 'module.useKey(deps.identityOf(request.environment));',
    replace: 'module.useKey(crypto.getRandomValues(new Uint8Array(32)));',
    provedBy: [{ test: TEST, title: 'write the same responses, records and lines for the same requests' }],
    shownBy: { promise: 3, rounds: 2 },
  },
  {
    name: 'overtaken-batch-decided',
    promises: [1, 2],
    why: 'a batch that waited for its key lookup stores the events of the one read after it',
    module: 'ingest/engine/wasm/wasm-engine',
    find: 'return isLatest(reading) ? claim(reading)',
    replace: 'return true ? claim(reading)',
    provedBy: [
      { test: TEST, title: 'a reading that was overtaken by another is decided as if it came alone' },
    ],
  },
  {
    name: 'batch-of-any-bytes',
    promises: [7],
    why: 'bytes that are no UTF-8 are acknowledged and written into a line',
    module: 'ingest/engine/wasm/wasm-engine',
    find: 'if (!isCommon || !isUtf8(body)) return undefined;',
    replace: 'if (!isCommon) return undefined;',
    provedBy: [{ test: GUARDS_TEST, title: 'with an overlong form in a text is rejected as a whole' }],
  },
  {
    name: 'claim-kept-without-a-write',
    promises: [1],
    why: 'keys that nothing commits: a retry returns duplicate for an event that is on no log',
    module: 'ingest/engine/claim-keys',
    find: 'void store.release([claim]);',
    replace: '',
    provedBy: [
      {
        test: 'ingest/engine/wasm/wasm-engine.test.ts',
        title: 'keys that the fast engine claimed are free again when it cannot write',
      },
    ],
  },
];
