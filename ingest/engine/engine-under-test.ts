import { randomBytes } from 'node:crypto';
import type { EngineHarness } from '../../infra/ports/conformance/engine-harness.ts';
import type { CommitPart, Engine } from '../../infra/ports/engine.ts';
import { Transient } from '../../schemas/failures.ts';
import { encodeFrame } from '../../schemas/stored/frame.ts';
import { type LogAndKeys, openLogAndKeys } from '../../tests/support/log-and-keys.ts';
import { memoryTmpdir } from '../../tests/support/memory-tmpdir.ts';
import { ofThisFile } from '../../tests/support/of-this-file.ts';
import { createIdentity, type Identity } from '../identity.ts';
import type { Customer, Meter, UsageRegistry } from '../registry-entries.ts';
import { createStamps } from './created-at.ts';
import type { EngineDeps, IdentifyDeps } from './js/js-engine.ts';

/** An engine over a real log and key table in a folder of its own; the names of its world are in memory. */
export async function createEngineHarness(
  create: (deps: EngineDeps) => Engine,
): Promise<EngineHarness & { identifyDeps: IdentifyDeps }> {
  const identity = createIdentity(Buffer.alloc(32, 7));
  return harnessOver(await openLogAndKeys(identity.check, SMALL), create, identity);
}

/**
 * For all tests of a file: engines, each in a world of its own, over one log and one key table, which take
 * ten times as long to open as most of the tests. Each has an identity key of its own, so that the table
 * knows no key of another.
 */
export async function engineHarnessesOfThisFile(create: (deps: EngineDeps) => Engine) {
  const { check } = createIdentity(Buffer.alloc(32, 7));
  const { close, ...stores } = await ofThisFile(openLogAndKeys(check, SMALL), (opened) => opened.close());
  const shared = { ...stores, close: async () => undefined };
  return async () => harnessOver(shared, create, createIdentity(randomBytes(32)));
}

function harnessOver(
  { writer, keys: store, close }: LogAndKeys,
  create: (deps: EngineDeps) => Engine,
  identity: Identity,
): EngineHarness & { identifyDeps: IdentifyDeps } {
  const tables = createTables();
  let nowMs = 0;
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
  const { registry } = tables;
  const { createdAtMs, arrivalOf } = createStamps(clock);
  const identifyDeps = { registry, createdAtMs, arrivalOf, limits: LIMITS, identityOf: identity.keyOf };
  return {
    ...tables,
    identifyDeps,
    engine: create({ ...identifyDeps, store }),
    setNow: (ms) => {
      nowMs = ms;
    },
    commit: async ({ claim, records, lines, ...part }: CommitPart) => {
      const head = { logId: writer.logId, committedAtMs: nowMs, recheck: [] };
      const outcome = await writer.append(
        encodeFrame({ ...head, ...part, records: [records], lines: [lines] }),
      );
      if (outcome.status === 'durable') await store.confirm([claim], outcome.end);
    },
    close,
  };
}

/**
 * In memory: an engine is about no disk, and its tests open a thousand of them. Their tables of keys take
 * 1.5 MB in place of 25: for every few of those V8 marks its whole heap. No time seals keys: on a slow
 * machine that came in the middle of a test, and of one engine of a pair before the other.
 */
const SMALL = {
  parent: memoryTmpdir(),
  generationKeys: 4_096,
  sealedAfterMs: Number.POSITIVE_INFINITY,
};
const LIMITS = { ageMsMax: 400 * 86_400_000, aheadMsMax: 300_000 };

type Tables = Omit<EngineHarness, 'engine' | 'setNow' | 'commit' | 'close'> & { registry: UsageRegistry };

/** Customers and meters as Postgres would have them, and what of them is cached so far. */
function createTables(): Tables {
  const stored = { customers: new Map<string, Customer>(), meters: new Map<string, Meter>() };
  const known = { customers: new Map<string, Customer>(), meters: new Map<string, Meter>() };
  const inOtherMode = new Set<string>();
  let generation = 0;
  let isUnavailable = false;
  let otherModeUnavailable = false;
  const fill = <Entry>(from: Map<string, Entry>, to: Map<string, Entry>, names: Set<string>) => {
    if (isUnavailable) throw new Transient('database_unavailable', 'Postgres is unavailable.');
    const found = new Map<string, Entry>();
    for (const name of names) {
      const entry = from.get(name);
      if (entry !== undefined) found.set(name, entry);
    }
    for (const [name, entry] of found) to.set(name, entry);
    return found;
  };
  const put = <Entry>(table: 'customers' | 'meters', names: Array<string | undefined>, entry: Entry) => {
    generation++;
    known.customers.clear();
    known.meters.clear();
    for (const name of names)
      if (name !== undefined) (stored[table] as Map<string, unknown>).set(name, entry);
  };
  const putMeter: Tables['putMeter'] = ({ key, id, property, isLatest = false, archived = false }) => {
    const aggregation = isLatest ? 'latest' : property === undefined ? 'sum' : 'unique';
    put('meters', [key, id], { key, aggregation, property, archived });
  };
  return {
    putCustomer: ({ id, externalId, archived = false }) =>
      put('customers', [id, externalId], { id, archived, customerMeters: new Map() }),
    putMeter,
    setUnavailable: (value) => {
      isUnavailable = value;
    },
    putInOtherMode: (...names) => {
      for (const name of names) inOtherMode.add(name);
    },
    setOtherModeUnavailable: () => {
      otherModeUnavailable = true;
    },
    registry: {
      get generation() {
        return generation;
      },
      findCustomer: (_, name) => known.customers.get(name),
      findMeter: (_, name) => known.meters.get(name),
      fillCustomers: async (_, names) => fill(stored.customers, known.customers, names),
      fillMeters: async (_, names) => {
        for (const key of names)
          if (!isUnavailable && !stored.meters.has(key) && !key.startsWith('meter_')) putMeter({ key });
        return fill(stored.meters, known.meters, names);
      },
      namesInOtherMode: async (_, __, names) => {
        if (isUnavailable || otherModeUnavailable)
          throw new Transient('database_unavailable', 'Postgres is unavailable.');
        return new Set([...names].filter((name) => inOtherMode.has(name)));
      },
      customerMeterOf: (environment, customer, meter) => {
        const known = customer.customerMeters.get(meter.key);
        if (known?.meter === meter) return known;
        const names = [environment, customer.id, meter.key];
        const json = names.map((text) => JSON.stringify(text)).join(',');
        const customerMeter = { meter, json, fingerprint: `${customer.id}\u0000${meter.key}\u0000` };
        customer.customerMeters.set(meter.key, customerMeter);
        return customerMeter;
      },
    },
  };
}
