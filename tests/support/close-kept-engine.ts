import { afterAll } from 'vitest';

/** Of ./kept-engine.ts, which most files do not load. */
const kept = globalThis as { metergateTestEngine?: { close(): Promise<void> } };

/** Vitest runs this once more for each file, also where files share a process. */
afterAll(() => kept.metergateTestEngine?.close());
