import { createServer } from 'node:http';
import { request } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createHttpBatches } from '../../infra/own-usage/http-batches.ts';
import { createUsageWriter, type SendBatch } from '../../infra/own-usage/usage-writer.ts';
import { CUSTOMER, ENVIRONMENT, NOW_MS, REQUEST_ID } from '../../infra/ports/conformance/engine-session.ts';
import type { CommitPart, Engine, UsageRequest } from '../../infra/ports/engine.ts';
import type { OwnEvent } from '../../infra/ports/usage-writer.ts';
import { Transient } from '../../schemas/failures.ts';
import { base32 } from '../../schemas/primitives/ids.ts';
import {
  internalAuthorization,
  OWN_USAGE_BYTES_MAX,
  OWN_USAGE_PATH,
} from '../../schemas/stored/own-usage.ts';
import { eventIdsOf } from '../../schemas/stored/record.ts';
import { voidId } from '../../schemas/stored/void-ids.ts';
import { listen } from '../../tests/support/listen.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import { createBeginUsage } from '../begin-usage.ts';
import type { CommitWaiter } from '../embedded/group-commit.ts';
import { engineHarnessesOfThisFile } from '../engine/engine-under-test.ts';
import { createWasmEngine } from '../engine/wasm/wasm-engine.ts';
import { createOwnBatches } from './own-batches.ts';
import { serveOwnUsage } from './serve-own-usage.ts';

/*
 * Usage that the installation itself writes, over a real engine, log and key table. Faults that it catches:
 * a client whose key takes an event of ours, or the other way round; an event written twice for one key; a
 * value that a double has rounded; a stranger who has usage written.
 */
const open = await engineHarnessesOfThisFile(createWasmEngine);
const TOKEN = Buffer.alloc(32, 5);
const NOW = new Date(NOW_MS).toISOString();

async function openOwnUsage() {
  const harness = await open();
  harness.setNow(NOW_MS);
  harness.putCustomer({ id: CUSTOMER, externalId: 'acme' });
  harness.putCustomer({ id: 'cus_gggggggggggggggggggggggggg', archived: true });
  harness.putMeter({ key: 'calls' });
  const asked: UsageRequest[] = [];
  const engine: Engine = {
    ...harness.engine,
    read(one) {
      asked.push(one);
      return harness.engine.read(one);
    },
  };
  const logged: CommitPart[] = [];
  const commit = (part: CommitPart, waiter: CommitWaiter) => {
    const { lines, records } = part;
    if (part.eventCount > 0)
      logged.push({ ...part, lines: Buffer.from(lines), records: Buffer.from(records) });
    void harness.commit(part).then(() => waiter.resolve('durable'), waiter.reject);
  };
  const begin = createBeginUsage(engine, { commit } as Parameters<typeof createBeginUsage>[1]);
  let [isDiskLow, created] = [false, 0];
  const counted = (events: number) => {
    created += events;
  };
  const send = createOwnBatches({ begin, isDiskLow: () => isDiskLow, created: counted });
  return {
    asked,
    begin,
    send,
    writer: createUsageWriter(send),
    created: () => created,
    logged: () => logged,
    fillDisk: () => {
      isDiskLow = true;
    },
  };
}

const event = (idempotencyKey: string, more: Partial<OwnEvent> = {}): OwnEvent => ({
  ...{ idempotencyKey, customerId: CUSTOMER, meterId: 'calls', value: '1', occurredAt: NOW },
  properties: null,
  ...more,
});
const idOfVoid = (change: number, id: string) => `use_${base32(voidId(change, id))}`;
const usageOf = (...events: OwnEvent[]) => ({ environment: ENVIRONMENT, events });

/** As a client sends it. */
function sendAsClient(begin: ReturnType<typeof createBeginUsage>, key: string, kind: 'single' | 'batch') {
  const one = { idempotencyKey: key, customerId: 'acme', meterId: 'calls', value: 1 };
  const body = Buffer.from(JSON.stringify(kind === 'single' ? one : { events: [one] }));
  const sent = { environment: ENVIRONMENT, kind, body, includeEvents: false, requestId: REQUEST_ID };
  return new Promise<number>((resolve, reject) =>
    begin(sent, { respond: (_, made) => resolve(made), noSpace: reject, fail: reject }),
  );
}

describe('usage of our own', () => {
  it('is created once for its key, exact, and a duplicate has the first event', async () => {
    const { writer, created } = await openOwnUsage();
    const one = event('k', { value: '123456789012345.123456789012', properties: '{"n":1.50,"s":"x"}' });
    const [first] = await writer.write(usageOf(one));
    const [again] = await writer.write(usageOf({ ...one, occurredAt: new Date(NOW_MS - 5).toISOString() }));
    expect(first).toMatchObject({ status: 'created', eventId: expect.stringMatching(/^use_/) });
    expect(again).toEqual({ ...first, status: 'duplicate' });
    expect(first?.status === 'created' && first.event).toContain('"value":123456789012345.123456789012');
    expect(created()).toBe(1);
  });

  it.each(['single', 'batch'] as const)('has other keys than those of clients (%s)', async (kind) => {
    const { writer, begin } = await openOwnUsage();
    expect(await sendAsClient(begin, 'taken', kind)).toBe(1);
    const written = await writer.write(usageOf(event('taken'), event('ours')));
    expect(written.map(({ status }) => status)).toEqual(['created', 'created']);
    expect(await sendAsClient(begin, 'ours', kind)).toBe(1);
  });

  it('comes in batches, with a result for each event and its reason where it has none', async () => {
    const { writer, asked } = await openOwnUsage();
    const events = Array.from({ length: 501 }, (_, at) => event(`many-${at}`));
    const archived = event('gone', { customerId: 'cus_gggggggggggggggggggggggggg' });
    const written = await writer.write(usageOf(...events, archived));
    expect(written).toHaveLength(502);
    expect(written.at(-1)).toMatchObject({ status: 'error', rejection: { code: 'customer_archived' } });
    expect(asked).toHaveLength(2);
    const wide = '"'.repeat(100);
    const properties = JSON.stringify(Object.fromEntries(Array.from({ length: 32 }, (_, n) => [n, wide])));
    await writer.write(usageOf(...Array.from({ length: 300 }, (_, at) => event(`w${at}`, { properties }))));
    expect(Math.max(...asked.map(({ body }) => body.length))).toBeLessThanOrEqual(OWN_USAGE_BYTES_MAX);
  });

  // Red when a void has the key or the id of an event: it would be a duplicate, or take away nothing.
  it('is part of a change, and voids are known by the events that they take away', async () => {
    const { writer, logged } = await openOwnUsage();
    const long = new Date(NOW_MS - 900 * 86_400_000).toISOString();
    const archived = { customerId: 'cus_gggggggggggggggggggggggggg', occurredAt: long };
    const [first] = await writer.write(usageOf(event('k', { properties: '{"a":"b"}' })));
    const id = first?.status === 'created' ? first.eventId : '';
    const change = { number: 7, voids: true };
    const voids = [event(id, { properties: '{"a":"b"}' }), event(`use_${'a'.repeat(26)}`, archived)];
    const written = await writer.write({ ...usageOf(...voids), change });
    const again = await writer.write({ ...usageOf(...voids), change });
    const later = await writer.write({ ...usageOf(event(id)), change: { number: 8, voids: true, of: 7 } });
    const added = { ...usageOf(event('k', archived)), change: { number: 8, voids: false } };
    const statuses = [...written, ...again, ...later, ...(await writer.write(added))];
    expect(statuses.map(({ status }) => status)).toEqual([
      ...['created', 'created', 'duplicate', 'duplicate', 'created'],
      // One key is one event, whatever it is part of.
      'error',
    ]);
    const rejected = await writer.write({ ...usageOf(event('no event')), change });
    expect(rejected).toMatchObject([{ status: 'error', rejection: { code: 'invalid_request' } }]);
    const [plain, voided, other] = logged();
    expect(plain?.lines.toString()).toBe('1,"",{"a":"b"}\n');
    expect(voided?.lines.toString()).toBe(`"${id}",1,"",{"a":"b"}\n"use_${'a'.repeat(26)}",1,"",{}\n`);
    expect(voided?.touched[0]?.pair).toBe(`${plain?.touched[0]?.pair},{"change":7,"voids":true}`);
    expect(other?.touched[0]?.pair).toBe(`${plain?.touched[0]?.pair},{"change":8,"voids":true,"of":7}`);
    const ids = logged().flatMap(({ records }) => eventIdsOf(records));
    expect(ids).toEqual([
      id,
      ...[id, `use_${'a'.repeat(26)}`].map((one) => idOfVoid(7, one)),
      idOfVoid(8, id),
    ]);
  });

  it('is not written where the disk is nearly full', async () => {
    const { writer, fillDisk } = await openOwnUsage();
    fillDisk();
    await expect(writer.write(usageOf(event('k')))).rejects.toThrow(Transient);
  });
});

describe('over HTTP', () => {
  async function openPort(given: (send: SendBatch) => SendBatch = (send) => send) {
    const own = await openOwnUsage();
    const fail = (error: Error) => {
      throw error;
    };
    const server = createServer(
      serveOwnUsage({ send: given(own.send), token: () => TOKEN, log: SILENT, fail }),
    );
    const { url, close } = await listen(server);
    onTestFinished(close);
    const writer = createUsageWriter(createHttpBatches({ url: () => url, token: TOKEN }));
    return { ...own, url, writer };
  }

  it('is written as in the process, with the change that it is part of', async () => {
    const { writer, asked } = await openPort();
    const id = `use_${'b'.repeat(26)}`;
    const [written] = await writer.write({ ...usageOf(event(id)), change: { number: 7, voids: true } });
    expect(written).toMatchObject({ status: 'created' });
    expect(asked).toMatchObject([{ isOwn: true, change: { number: 7, voids: true } }]);
  });

  it('serves no caller without the token, and no body beyond the bound', async () => {
    const { url, asked } = await openPort();
    const target = `${url}${OWN_USAGE_PATH}?environment=${encodeURIComponent(ENVIRONMENT)}`;
    const send = async (authorization: string, body: string | Buffer) =>
      (await request(target, { method: 'POST', headers: { authorization }, body })).statusCode;
    const body = '{"events":[]}';
    expect(await send('Bearer mg_sk_live_x', body)).toBe(404);
    expect(await send(internalAuthorization(Buffer.alloc(32, 6)), body)).toBe(404);
    expect(await send(internalAuthorization(TOKEN), Buffer.alloc(OWN_USAGE_BYTES_MAX + 1))).toBe(413);
    expect(asked).toEqual([]);
  });

  it('has an unknown outcome where the other process fails, or is not there', async () => {
    const failing = await openPort(() => async () => {
      throw new Transient('overloaded', 'the test');
    });
    await expect(failing.writer.write(usageOf(event('k')))).rejects.toThrow(Transient);
    const nowhere = createUsageWriter(createHttpBatches({ url: () => undefined, token: TOKEN }));
    await expect(nowhere.write(usageOf(event('k')))).rejects.toThrow(Transient);
  });
});
