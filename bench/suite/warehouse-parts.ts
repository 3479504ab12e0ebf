import { readdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pass } from 'node:timers/promises';
import { bytesOnDisk } from './folder-sizes.ts';
import { rounded } from './paired.ts';

/** Of ClickHouse's folders: `partition_firstBlock_lastBlock_level`, and `_mutation` where there was one. */
const PART = /^([^_]+)_(\d+)_(\d+)_(\d+)(?:_(\d+))?$/;
/** A part that is being written, merged or changed. */
const UNFINISHED = /^tmp_/;
/** Takes the same however many events are stored. */
const NOT_OF_EVENTS = ['migrations'];
/** Between two merges the one that plans them sleeps for seconds. */
const REST = { restMs: 4_000, lookEveryMs: 100, timeoutMs: 600_000 };

interface Part {
  name: string;
  partition: string;
  first: number;
  last: number;
  level: number;
  mutation: number;
}

/** Parts that no other one has taken in: those stay in the folder for minutes, and are read by nothing. */
export function activeParts(names: readonly string[]): string[] {
  const parts = names.flatMap((name) => {
    const [, partition, ...numbers] = PART.exec(name) ?? [];
    const [first = 0, last = 0, level = 0, mutation = 0] = numbers.map((text) => Number(text ?? 0));
    return partition === undefined ? [] : [{ name, partition, first, last, level, mutation }];
  });
  // Two parts of a partition hold different blocks, or one holds all of the other's.
  let taken: Part | undefined;
  return parts.sort(widestFirst).flatMap((part) => {
    if (taken?.partition === part.partition && part.last <= taken.last) return [];
    taken = part;
    return [part.name];
  });
}

function widestFirst(a: Part, b: Part): number {
  if (a.partition !== b.partition) return a.partition < b.partition ? -1 : 1;
  return a.first - b.first || b.last - a.last || b.level - a.level || b.mutation - a.mutation;
}

/** Bytes on disk per event, by table: of the parts that are read. */
export async function bytesByTable(warehouse: string, events: number): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const { table, folder } of tablesOf(warehouse)) {
    let bytes = 0;
    for (const name of activeParts(readdirSync(folder))) bytes += await bytesOnDisk(join(folder, name));
    found[table] = rounded(bytes / events);
  }
  return found;
}

/** The tables together. */
export function allOf(bytes: Record<string, number>): number {
  return rounded(Object.values(bytes).reduce((sum, one) => sum + one, 0));
}

/**
 * Once nothing has been merged for a while: what `sample` gave when it came to rest. Throws after ten minutes
 * without rest.
 */
export async function whenMergesRest<T>(warehouse: string, sample: () => T, rest = REST): Promise<T> {
  const { restMs, lookEveryMs, timeoutMs } = rest;
  const endsAt = performance.now() + timeoutMs;
  let seen = stateOf(warehouse);
  let [sampled, restsSince] = [sample(), performance.now()];
  while (performance.now() < restsSince + restMs) {
    if (performance.now() > endsAt) throw new Error('the warehouse does not stop merging');
    await pass(lookEveryMs);
    const now = stateOf(warehouse);
    if (now === seen && !now.includes('tmp_')) continue;
    [seen, sampled, restsSince] = [now, sample(), performance.now()];
  }
  return sampled;
}

/** Changes with each part that appears or is taken in, not with those that are removed afterwards. */
function stateOf(warehouse: string): string {
  const names = tablesOf(warehouse).flatMap(({ table, folder }) => {
    const all = readdirSync(folder);
    return [...activeParts(all), ...all.filter((name) => UNFINISHED.test(name))].map((name) => table + name);
  });
  return names.sort().join('\n');
}

/** By the links that ClickHouse keeps; views have no folder. */
function tablesOf(warehouse: string): Array<{ table: string; folder: string }> {
  const data = join(warehouse, 'data');
  return readdirSync(data).flatMap((database) => {
    const tables = readdirSync(join(data, database)).filter((table) => !NOT_OF_EVENTS.includes(table));
    return tables.map((table) => ({ table, folder: realpathSync(join(data, database, table)) }));
  });
}
