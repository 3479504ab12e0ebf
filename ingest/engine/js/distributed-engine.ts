import type { DistributedEngine, Identified, Response, UsageRequest } from '../../../infra/ports/engine.ts';
import { OUTCOME } from '../../../infra/ports/idempotency-store.ts';
import type { Rejection } from '../../../schemas/error-codes.ts';
import { Defect } from '../../../schemas/failures.ts';
import { occurredAtMs } from '../../../schemas/stored/record.ts';
import { changeText } from '../../../schemas/stored/touched-rows.ts';
import { type BufferPool, createBufferPool } from '../../buffer-pool.ts';
import type { Decided, Reading } from '../decided.ts';
import { keySpaceOf } from '../key-space.ts';
import { rejectedResponse } from '../responses.ts';
import { createFastReader, type FastReading, REUSED_RESULT } from '../wasm/wasm-engine.ts';
import { createWasmModule, type WasmModule } from '../wasm/wasm-module.ts';
import { lineOf } from './frame-part.ts';
import { applyOutcomes, createPlainParts, type IdentifyDeps, responseOf } from './js-engine.ts';

export interface DistributedEngineDeps extends IdentifyDeps {
  /** So long the store knows a key for certain. */
  hotWindowMs: number;
}

const POOL_BYTES_MAX = 8 * 1024 * 1024;

/**
 * The wasm engine and the js engine for a store that responds asynchronously. By then the memory of the wasm
 * engine belongs to the next request, so the lines and the response for new events are copied out before the
 * claim. Most requests need nothing more; the bodies of the others are read again.
 */
export function createDistributedEngine(
  deps: DistributedEngineDeps,
): DistributedEngine<FastReading | Reading> {
  const plain = createPlainParts(deps);
  const module = createWasmModule(REUSED_RESULT);
  const pool = createBufferPool(POOL_BYTES_MAX);
  const ageMsMax = Math.min(deps.limits.ageMsMax, deps.hotWindowMs);
  // A request with an older event goes to the js engine as a whole.
  const { readFast, isLatest } = createFastReader({ ...deps, limits: { ...deps.limits, ageMsMax } }, module);

  function identify(reading: FastReading | Reading): Identified | { response: Response } {
    if (!('turn' in reading)) return identifyPlainly(plain, reading, deps.createdAtMs() - deps.hotWindowMs);
    if (!isLatest(reading)) throw new Defect('A batch is identified in the turn in which it was read.');
    module.useKey(deps.identityOf(keySpaceOf(reading.request)));
    const nowMs = deps.createdAtMs();
    module.wasm.identify(reading.count, nowMs);
    const arrival = deps.arrivalOf(nowMs, reading.count);
    return identified({ module, pool, arrival }, reading, (request) => void readFast(request));
  }

  /** Of the requests of the wasm engine, only batches: many processes exist to serve them. */
  function read(request: UsageRequest): FastReading | Reading | Promise<Reading> {
    return (request.kind === 'single' ? undefined : readFast(request)) ?? plain.read(request);
  }

  return { read, identify };
}

/** What the wasm engine has in memory of a batch, copied out. `readAgain` puts the batch back. */
function identified(
  { module, pool, arrival }: { module: WasmModule; pool: BufferPool; arrival: number },
  { request, count, customerMeters }: FastReading,
  readAgain: (request: UsageRequest) => void,
): Identified {
  const { records: words, outcomes: judged } = module.claimBatch(count);
  const records = new Uint32Array(words);
  const customerMeterOf = new Uint16Array(count);
  for (let item = 0; item < count; item++) customerMeterOf[item] = module.customerMeterOf(item);
  judged.fill(OUTCOME.created);
  const forResponse = pool.loan();
  const allNew = module.responseInto(forResponse.take, count, count, 0);
  const forLines = pool.loan();
  const lines = module.linesInto(count, arrival, forLines.take);
  const body = copied(request.body, forLines.take(request.body.length));

  function respondAgain(outcomes: Uint8Array): Buffer {
    forResponse.giveBack();
    readAgain({ ...request, body });
    const batch = module.claimBatch(count);
    batch.records.set(records);
    batch.outcomes.set(outcomes);
    const [created, duplicate] = [OUTCOME.created, OUTCOME.duplicate].map((one) => countOf(outcomes, one));
    return module.responseInto(forResponse.take, count, created ?? 0, duplicate ?? 0);
  }

  return {
    count,
    records,
    readOnly: new Uint8Array(count),
    lines,
    lineEnds: endsOfLines(lines, count),
    customerMeters: customerMeters.map(({ json }) => json),
    customerMeterOf,
    cold: [],
    reject: () => undefined,
    response(outcomes) {
      const isNew = countOf(outcomes, OUTCOME.created) === count;
      const body = isNew ? allNew : respondAgain(outcomes);
      const itemErrors = isNew ? 0 : countOf(outcomes, OUTCOME.reused);
      return { status: 200, replayed: false, body, itemErrors, release: forResponse.giveBack };
    },
    release: forLines.giveBack,
  };
}

function identifyPlainly(
  plain: ReturnType<typeof createPlainParts>,
  { request, rejection, items, ignored }: Reading,
  coldBeforeMs: number,
): Identified | { response: Response } {
  if (rejection) return { response: rejectedResponse(rejection, request.requestId) };
  const { count, records, times, arrival, readOnly } = plain.identify(items, request);
  const { change } = request;
  const decided = { items, ignored, change, arrival, records, times };
  const rejected = new Map<number, Rejection>();
  return {
    count,
    records,
    readOnly: readOnly.subarray(0, count),
    ...linesOf(decided, count, coldBeforeMs),
    // Keys are forgotten, and a void that counts twice takes away what is not there.
    areFlagged: change?.voids === true,
    reject: (item, why) => void rejected.set(item, why),
    response(outcomes) {
      applyOutcomes(items, outcomes);
      for (const item of items) item.rejection = rejected.get(item.at) ?? item.rejection;
      return responseOf(decided, request);
    },
    release: () => undefined,
  };
}

type Lines = Pick<Identified, 'lines' | 'lineEnds' | 'customerMeters' | 'customerMeterOf' | 'cold'>;

/** As if all items were new, also rejected ones: a claim may be taken over (DistributedIdempotencyStore). */
function linesOf({ items, times, arrival, change }: Decided, count: number, coldBeforeMs: number): Lines {
  const [lineEnds, customerMeterOf] = [new Uint32Array(count), new Uint16Array(count)];
  const customerMeters = new Map<string, number>();
  const lines: Buffer[] = [];
  const cold: number[] = [];
  let end = 0;
  for (const { at, checked, customerMeter } of items) {
    if (at < 0) continue;
    const occurredMs = occurredAtMs(times, at);
    if (customerMeter) {
      customerMeterOf[at] = customerMeters.get(customerMeter.json) ?? customerMeters.size;
      customerMeters.set(customerMeter.json, customerMeterOf[at]);
      if (occurredMs < coldBeforeMs) cold.push(at);
    }
    if (checked && customerMeter) {
      const bytes = Buffer.from(lineOf({ checked, customerMeter, arrival: arrival + at, change }));
      lines.push(bytes);
      end += bytes.length;
    }
    lineEnds[at] = end;
  }
  return {
    lines: Buffer.concat(lines),
    lineEnds,
    customerMeters: [...customerMeters.keys()].map((names) => names + changeText(change)),
    customerMeterOf,
    cold,
  };
}

function endsOfLines(lines: Buffer, count: number): Uint32Array {
  const ends = new Uint32Array(count);
  let end = 0;
  for (let line = 0; line < count; line++) {
    end = lines.indexOf(LINE_FEED, end) + 1;
    ends[line] = end;
  }
  return ends;
}

const LINE_FEED = 10;

function copied(bytes: Buffer, into: Buffer): Buffer {
  return into.subarray(0, bytes.copy(into));
}

function countOf(outcomes: Uint8Array, outcome: number): number {
  let found = 0;
  for (const one of outcomes) if (one === outcome) found++;
  return found;
}
