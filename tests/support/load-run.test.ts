import { createServer } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listenUntil } from './listen.ts';
import { createLoadBody } from './load-body.ts';
import { namesOf, runLoad } from './load-run.ts';
import { inventedWorld } from './world.ts';

const world = inventedWorld();
const options = {
  world,
  key: 'sk_test_x',
  nowMs: Date.UTC(2026, 10, 21),
  spreadMs: 1_000,
};

interface SentBatch {
  events: Array<{ idempotencyKey: string }>;
}

/** Responds as the batch endpoint does and keeps every key it received. */
async function startReceiver(): Promise<{ origin: string; keys: string[] }> {
  const keys: string[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { events } = JSON.parse(body) as SentBatch;
    keys.push(...events.map(({ idempotencyKey }) => idempotencyKey));
    const summary = { total: events.length, created: events.length, duplicate: 0, errors: 0 };
    const results = events.map((_, index) => ({ index, status: 'created' }));
    const sent = JSON.stringify({ summary, results });
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': sent.length });
    response.end(sent);
  });
  const { url } = await listenUntil(onTestFinished, server);
  return { origin: url, keys };
}

describe('the load', () => {
  it('renews every key of a body in place, and the body stays the JSON it was', () => {
    const shape = { ...namesOf(world), host: 'localhost', batch: 500, seed: 1, keyPrefix: 'r-' };
    const body = createLoadBody({ ...options, ...shape });
    const read = () => {
      const text = body.next().request.toString();
      return (JSON.parse(text.slice(text.indexOf('\r\n\r\n'))) as SentBatch).events;
    };
    const [first, second] = [read(), read()];
    const keys = [...first, ...second].map(({ idempotencyKey }) => idempotencyKey);
    expect(first).toHaveLength(500);
    expect(new Set(keys).size).toBe(1_000);
    expect(keys[999]).toBe('r-000000000999');
  });

  it('counts what was acknowledged, and sends no key twice', async () => {
    const { origin, keys } = await startReceiver();
    const result = await runLoad({ ...options, origin, connections: 3, durationMs: 200 });
    expect(result.acknowledged).toBeGreaterThan(0);
    expect(result.acknowledged).toBe(keys.length);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('offers no more than the requested rate', async () => {
    const { origin, keys } = await startReceiver();
    await runLoad({ ...options, origin, connections: 3, durationMs: 500, rate: 10_000 });
    expect(keys.length).toBe(5_000);
  });
});
