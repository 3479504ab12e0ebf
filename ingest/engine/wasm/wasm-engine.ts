import { isUtf8 } from 'node:buffer';
import type { CommitPart, Decision, Engine, Response, UsageRequest } from '../../../infra/ports/engine.ts';
import { type Claim, type ClaimBatch, OUTCOME } from '../../../infra/ports/idempotency-store.ts';
import { Transient } from '../../../schemas/failures.ts';
import { USAGE_LIMITS } from '../../../schemas/usage-limits.ts';
import { type BufferPool, createBufferPool } from '../../buffer-pool.ts';
import type { CustomerMeter } from '../../registry-entries.ts';
import { claimKeys } from '../claim-keys.ts';
import type { Reading } from '../decided.ts';
import { createJsEngine, type EngineDeps, type IdentifyDeps } from '../js/js-engine.ts';
import { keySpaceOf } from '../key-space.ts';
import { REUSED } from '../new-event-rejection.ts';
import { rejectedResponse, rejectedResult } from '../responses.ts';
import { findKnownCustomerMeters, touchedBy } from './known-customer-meters.ts';
import { createWasmModule, type WasmModule } from './wasm-module.ts';

export const REUSED_RESULT = `",${rejectedResult(REUSED)}}`;

/** For responses that wait for their frame and their client: dozens of requests. */
const BUFFERS_BYTES_MAX = 16 * 1024 * 1024;

/** A request in the wasm engine's memory, valid as long as no other one was read. */
export interface FastReading {
  request: UsageRequest;
  count: number;
  /** In the order of the wasm engine. */
  customerMeters: CustomerMeter[];
  turn: number;
}

/**
 * The wasm engine in front of the js engine. The wasm engine takes requests that can be read in one way only,
 * and whose names are all cached and usable; any other request goes to the js engine as a whole, before a key
 * is claimed. What either responds and stores is the same, byte by byte: the js engine is the oracle of its
 * tests.
 */
export function createWasmEngine(deps: EngineDeps): Engine<FastReading | Reading> {
  const plain = createJsEngine(deps);
  const module = createWasmModule(REUSED_RESULT);
  const buffers = createBufferPool(BUFFERS_BYTES_MAX);
  const { readFast, isLatest } = createFastReader(deps, module);

  function read(request: UsageRequest): FastReading | Reading | Promise<Reading> {
    return readFast(request) ?? plain.read(request);
  }

  function decide(reading: FastReading | Reading): Decision {
    if (!('turn' in reading)) return plain.decide(reading);
    // mutant: overtaken-batch-decided
    return isLatest(reading) ? claim(reading) : decidePlainly(reading.request);
  }

  /** The names were cached a short time ago, so it is read at once. If one was evicted since: try again. */
  function decidePlainly(request: UsageRequest): Decision {
    const reading = plain.read(request);
    if (!(reading instanceof Promise)) return plain.decide(reading);
    reading.catch(() => undefined); // no caller waits for it any more
    throw new Transient('reading_outdated', 'A name changed between reading and deciding.');
  }

  function claim(reading: FastReading): Decision {
    const { request, count } = reading;
    // mutant: batch-ids-random
    module.useKey(deps.identityOf(keySpaceOf(request)));
    const nowMs = deps.createdAtMs();
    module.wasm.identify(count, nowMs);
    const arrival = deps.arrivalOf(nowMs, count);
    const batch = module.claimBatch(count);
    return claimKeys(deps.store, batch, (claim) => {
      // The response first: the lines use the same memory, and move the records.
      const isSingle = request.kind === 'single';
      const response = isSingle
        ? singleOf(module, batch, request)
        : batchOf({ module, buffers }, claim, batch);
      const commit = commitOf({ module, arrival }, claim, reading);
      return commit ? { response, commit } : { response };
    });
  }

  return { read, decide };
}

/** Takes what is common in form and whose names are all known. */
export function createFastReader(deps: IdentifyDeps, module: WasmModule) {
  let turn = 0;

  function readFast(request: UsageRequest): FastReading | undefined {
    const { kind, body, environment } = request;
    const isCommon =
      (kind === 'single' || !request.includeEvents) &&
      request.change === undefined &&
      body.length <= USAGE_LIMITS.bodyBytesMax;
    if (!isCommon || /* mutant: batch-of-any-bytes */ !isUtf8(body)) return undefined;
    turn++;
    const count = module.read(request);
    if (count <= 0 || !isTimely(count)) return undefined;
    const customerMeters = findKnownCustomerMeters(module, deps.registry, environment);
    return customerMeters && { request, count, customerMeters, turn };
  }

  /** Times outside the limits are rejected item by item, or were stored before: not here. */
  function isTimely(count: number): boolean {
    const nowMs = deps.createdAtMs();
    return module.wasm.isTimely(count, nowMs - deps.limits.ageMsMax, nowMs + deps.limits.aheadMsMax) === 1;
  }

  /** Only the last request that was read is still in the engine's memory. */
  return { readFast, isLatest: (reading: FastReading) => reading.turn === turn };
}

function singleOf(module: WasmModule, { outcomes }: ClaimBatch, request: UsageRequest): Response {
  if (outcomes[0] === OUTCOME.reused) return rejectedResponse(REUSED, request.requestId);
  const body = module.event(request.numbersAsText === true);
  return { status: 201, replayed: outcomes[0] === OUTCOME.duplicate, body };
}

function batchOf(
  { module, buffers }: { module: WasmModule; buffers: BufferPool },
  { created }: Claim,
  { count, outcomes }: ClaimBatch,
): Response {
  let duplicate = 0;
  // Without an iterator: it costs 4 µs per request.
  for (let item = 0; item < count; item++) if (outcomes[item] === OUTCOME.duplicate) duplicate++;
  const { take, giveBack } = buffers.loan();
  const body = module.responseInto(take, count, created, duplicate);
  const itemErrors = count - created - duplicate;
  return { status: 200, replayed: false, body, itemErrors, release: giveBack };
}

/** What was claimed, as a part of the next frame. */
function commitOf(
  { module, arrival }: { module: WasmModule; arrival: number },
  claim: Claim,
  { count, customerMeters }: FastReading,
): CommitPart | undefined {
  const { created, waits } = claim;
  if (created === 0 && /* mutant: batch-replay-before-its-flush */ !waits) return undefined;
  // Before the records: these are moved together.
  const lines = module.lines(count, arrival);
  const records = module.records(created);
  const { touched, numbers } = touchedBy(module, customerMeters, created);
  return { claim, eventCount: created, records, lines, touched, numbers };
}
