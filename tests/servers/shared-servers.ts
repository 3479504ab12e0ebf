import { createServer } from 'node:http';
import { listen } from '../support/listen.ts';
import { startKafka } from './start-kafka.ts';
import { startRedis } from './start-redis.ts';
import type { TestingServer } from './testing-server.ts';

const STARTS = { '/kafka': startKafka, '/redis': startRedis } as const;

/**
 * Vitest's globalSetup: tests in any of its processes ask here for the one broker and the one key store of
 * the run, which are started when the first asks. Where the environment names one, none is started.
 */
export async function setup(): Promise<() => Promise<void>> {
  const started = new Map<string, Promise<TestingServer>>();
  const server = createServer(async (request, response) => {
    const start = STARTS[request.url as keyof typeof STARTS];
    const running = started.get(request.url ?? '') ?? start?.();
    if (running) started.set(request.url ?? '', running);
    const [status, body] = await respond(running);
    // Tests ask seldom: a connection that is kept would be closed just as the next one takes it.
    response.writeHead(status, { connection: 'close' }).end(body);
  });
  const { url, close } = await listen(server);
  process.env.TESTING_SERVERS_URL = url;
  return async () => {
    delete process.env.TESTING_SERVERS_URL;
    await close();
    await stop(started);
  };
}

async function respond(running: Promise<TestingServer> | undefined): Promise<[number, string]> {
  if (!running) return [404, 'kafka or redis'];
  return await running.then(
    ({ url }): [number, string] => [200, url],
    (error: Error): [number, string] => [500, error.message],
  );
}

async function stop(started: Map<string, Promise<TestingServer>>): Promise<void> {
  for (const running of started.values()) {
    await running.then(
      (one) => one.stop(),
      () => undefined, // the caller already received the error
    );
  }
}
