/**
 * What each step of a batch's way costs, in one process without HTTP: the same functions as the wasm engine,
 * key table and log, called one after the other as the engine does, with the time taken around each.
 * Argument: batches. Prints one line of JSON: µs per event by stage.
 */

import { isUtf8 } from 'node:buffer';
import { GENERATION_KEYS } from '../../infra/key-table/open-key-table.ts';
import type { Claim } from '../../infra/ports/idempotency-store.ts';
import { createBufferPool } from '../../ingest/buffer-pool.ts';
import { createFrameMemory } from '../../ingest/embedded/frame-memory.ts';
import { findKnownCustomerMeters, touchedBy } from '../../ingest/engine/wasm/known-customer-meters.ts';
import { createWasmModule } from '../../ingest/engine/wasm/wasm-module.ts';
import { createIdentity } from '../../ingest/identity.ts';
import type { Customer, Meter, UsageRegistry } from '../../ingest/registry-entries.ts';
import { createLoadBody } from '../../tests/support/load-body.ts';
import { openLogAndKeys } from '../../tests/support/log-and-keys.ts';
import { claimWithRoom } from './claim-with-room.ts';
import { median, rounded } from './paired.ts';

const BATCH = 500;
/** Requests of a frame: what 8 connections make of it under load. */
const FRAME = 4;
const WARM_UP = 400;
const DAY_MS = 86_400_000;
const environment = 'ws_bench:live';
const customers = Array.from({ length: 10 }, (_, at) => `cus_bench${at}`);

/** What is timed, by request and by frame, and the stages that it belongs to. */
const STAGES = {
  read: ['read'],
  check: ['check'],
  identify: ['identify'],
  decide: ['claim', 'confirm'],
  response: ['response'],
  serialise: ['lines', 'collect', 'frame'],
  log: ['log'],
} as const;
type Step = (typeof STAGES)[keyof typeof STAGES][number] | 'outside';

const batches = Number(process.argv[2] ?? 4_000);
const identity = createIdentity(Buffer.alloc(32, 7));
const stores = await openLogAndKeys(identity.check, { generationKeys: GENERATION_KEYS });
const engine = createWasmModule();
const rooms = createBufferPool(16 * 1024 * 1024);
const frame = createFrameMemory();
const registry = registryOf();
const body = createLoadBody({
  host: 'h',
  key: 'k',
  customers,
  meterKeys: ['bench'],
  batch: BATCH,
  properties: ['p0', 'p1', 'p2'],
  nowMs: Date.now(),
  seed: 1,
  keyPrefix: 'stages-',
});
let logCpuMicros = 0;
/** Milliseconds of each time: a middling one was not interrupted by others on the machine. */
const times = new Map<Step, number[]>();
for (let at = 0; at < WARM_UP; at += FRAME) await goThrough();
times.clear();
logCpuMicros = 0;
const before = process.cpuUsage();
for (let at = 0; at < batches; at += FRAME) await goThrough();
const { user, system } = process.cpuUsage(before);
await stores.close();
const perEvent = (step: Step) => {
  const list = times.get(step) ?? [];
  return (median(list) * 1_000 * list.length) / (batches * BATCH);
};
const cpuMicrosPerEvent: Record<string, number> = Object.fromEntries(
  Object.entries(STAGES).map(([name, steps]) => {
    return [name, rounded(steps.reduce((sum, step) => sum + perEvent(step), 0))];
  }),
);
const logWallMicrosPerEvent = cpuMicrosPerEvent.log;
// The flush runs in other threads: of the log only its CPU counts. The rest is reported separately.
const ofEvents = 1 / (batches * BATCH);
cpuMicrosPerEvent.log = rounded(logCpuMicros * ofEvents);
const known = Object.values(cpuMicrosPerEvent).reduce((sum, micros) => sum + micros, perEvent('outside'));
cpuMicrosPerEvent['garbage and rest'] = rounded(Math.max(0, (user + system) * ofEvents - known));
process.stdout.write(`${JSON.stringify({ cpuMicrosPerEvent, logWallMicrosPerEvent })}\n`);

interface Part {
  claim: Claim;
  giveBack(): void;
}

/** One frame's requests, each as ingest/engine/wasm/wasm-engine.ts does it; then their commit. */
async function goThrough(): Promise<void> {
  const parts: Part[] = [];
  while (parts.length < FRAME) parts.push(await request());
  let from = performance.now();
  const bytes = frame.seal({ logId: stores.writer.logId, committedAtMs: Date.now() });
  from = took('frame', from);
  const cpuBefore = process.cpuUsage();
  const outcome = await stores.writer.append(bytes);
  const { user, system } = process.cpuUsage(cpuBefore);
  logCpuMicros += user + system;
  from = took('log', from);
  if (outcome.status !== 'durable') throw new Error('the frame was not written');
  frame.clear();
  const claims = parts.map(({ claim }) => claim);
  await stores.keys.confirm(claims, outcome.end);
  for (const { giveBack } of parts) giveBack();
  took('confirm', from);
}

async function request(): Promise<Part> {
  const begun = performance.now();
  const send = body.next().request;
  const bytes = send.subarray(send.indexOf('\r\n\r\n') + 4);
  let from = performance.now();
  note('outside', from - begun);

  const count = isUtf8(bytes) ? engine.read({ body: bytes, kind: 'batch' }) : -1;
  from = took('read', from);
  const nowMs = Date.now();
  const isTimely =
    count === BATCH && engine.wasm.isTimely(count, nowMs - 400 * DAY_MS, nowMs + 300_000) === 1;
  const customerMeters = isTimely ? findKnownCustomerMeters(engine, registry, environment) : undefined;
  if (!customerMeters) throw new Error('the wasm engine did not take the batch');
  from = took('check', from);
  engine.useKey(identity.keyOf(environment));
  engine.wasm.identify(count, nowMs);
  from = took('identify', from);
  const claim = await claimWithRoom(stores.keys, engine.claimBatch(count));
  if (claim.created !== BATCH) throw new Error(`${claim.created} of ${BATCH} keys were new`);
  from = took('claim', from);
  const { take, giveBack } = rooms.loan();
  engine.responseInto(take, count, claim.created, 0);
  from = took('response', from);
  const lines = engine.lines(count, 0);
  const records = engine.records(claim.created);
  const touched = touchedBy(engine, customerMeters, claim.created);
  from = took('lines', from);
  frame.add({ claim, eventCount: claim.created, records, lines, ...touched });
  took('collect', from);
  return { claim, giveBack };
}

function took(step: Step, from: number): number {
  const now = performance.now();
  note(step, now - from);
  return now;
}

function note(step: Step, ms: number): void {
  const list = times.get(step);
  if (list) list.push(ms);
  else times.set(step, [ms]);
}

/** Everything is known and usable. */
function registryOf(): UsageRegistry {
  const meter: Meter = { key: 'bench', aggregation: 'sum', property: undefined, archived: false };
  const known = new Map<string, Customer>(
    customers.map((id) => [id, { id, archived: false, customerMeters: new Map() }]),
  );
  return {
    generation: 0,
    findCustomer: (_, name) => known.get(name),
    findMeter: () => meter,
    fillCustomers: async () => known,
    fillMeters: async () => new Map([['bench', meter]]),
    namesInOtherMode: async () => new Set(),
    customerMeterOf: (env, customer, { key }) => {
      const found = customer.customerMeters.get(key);
      if (found) return found;
      const json = [env, customer.id, key].map((text) => JSON.stringify(text)).join(',');
      const customerMeter = { meter, json, fingerprint: `${customer.id}\u0000${key}\u0000` };
      customer.customerMeters.set(key, customerMeter);
      return customerMeter;
    },
  };
}
