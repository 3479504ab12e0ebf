import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Api, createApi } from '../../support/api.ts';
import { seenInTime } from '../../support/in-time.ts';
import { instanceOfThisFile } from '../../support/instance-of-this-file.ts';
import { restartDataPlane } from '../process-control.ts';

const instance = await instanceOfThisFile();

/** Longer than a request waits, and than the test. */
const HANGS_MS = 20_000;
const RETRY = { timeoutMs: 30_000 };

// Red when a key that only a file has is read in the turn of the decision: no request gets a response then.
it('a disk that hangs costs usage with keys that are on it a 503, and new usage nothing', async () => {
  const api = createApi({ origin: instance.origin, key: instance.keys().live.secret, connections: 4 });
  try {
    const customer = { name: 'Acme', email: 'ops@acme.example', externalId: 'acme' };
    await api.call('POST', '/customers', { body: JSON.stringify(customer) });
    const first = await seenInTime(() => accepted(api, 'old'), RETRY, 'an event that is taken');
    // From then on the key is in a file alone.
    await restartDataPlane(instance);
    await seenInTime(() => accepted(api, 'known'), RETRY, 'a data plane that knows its names again');
    const { old, others } = await whileReadsHang(instance.pid('data plane'), async () => {
      const waiting = { isOver: false };
      const late = send(api, 'old').finally(() => {
        waiting.isOver = true;
      });
      const statuses: number[] = [];
      for (let nth = 0; !waiting.isOver; nth++) statuses.push((await send(api, `new ${nth}`)).status);
      return { old: await late, others: statuses };
    });
    expect(old).toMatchObject({ status: 503, body: { error: { code: 'unavailable' } } });
    expect(others.length).toBeGreaterThan(20);
    expect(new Set(others)).toEqual(new Set([201]));
    expect(await seenInTime(() => accepted(api, 'old'), RETRY, 'the disk')).toEqual(first);
  } finally {
    await api.close();
  }
});

function send(api: Api, idempotencyKey: string) {
  const event = { idempotencyKey, customerId: 'acme', meterId: 'api_calls', value: 1 };
  return api.call('POST', '/usage/events', { body: JSON.stringify(event) });
}

/** The event that is returned with 201. */
async function accepted(api: Api, idempotencyKey: string): Promise<unknown> {
  const { status, body } = await send(api, idempotencyKey);
  return status === 201 ? body : undefined;
}

/** The tracer holds each read of a file at a place; nothing but keys is read so in this process. */
async function whileReadsHang<T>(pid: number, work: () => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'metergate-tracer-'));
  const output = join(folder, 'messages');
  const inject = `inject=pread64:delay_enter=${HANGS_MS * 1000}`;
  const args = ['-f', '-o', '/dev/null', '-p', String(pid), '-e', 'trace=pread64', '-e', inject];
  const tracer = spawn('sh', ['-c', 'exec strace "$@" 2> "$0"', output, ...args], { stdio: 'ignore' });
  const ended = once(tracer, 'exit');
  try {
    await seenInTime(() => (isAttached(output) ? true : undefined), RETRY, 'the tracer');
    return await work();
  } finally {
    tracer.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  }
}

function isAttached(messages: string): boolean {
  try {
    return readFileSync(messages, 'utf8').includes('attached');
  } catch {
    return false;
  }
}
