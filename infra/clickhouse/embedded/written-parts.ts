import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ChdbConnection } from 'chdb/connection';
import { inlineParameters } from '../inline-parameters.ts';

/** Compares new parts on disk with what the engine reports of them. */
export interface WrittenParts {
  /** Takes the parts that are there for whole, once: the engine measured them as it loaded them. */
  trustLoaded(connection: ChdbConnection): Promise<void>;
  /** What is wrong with a part that was written since the last call; undefined when all are whole. */
  faultOf(connection: ChdbConnection): Promise<string | undefined>;
}

/** One folder. */
interface Part {
  path: string;
  /** Unix seconds. */
  writtenAt: number;
  /** Of the files that its checksums list. */
  bytes: number;
}

const WRITTEN_SINCE = `
  SELECT path, toUnixTimestamp(modification_time) AS writtenAt, toFloat64(bytes_on_disk) AS bytes
  FROM system.parts
  WHERE database = 'metergate' AND active AND modification_time >= toDateTime({since:UInt32})`;

/** By which a clock may be set back: a part that seems older is not measured. */
const CLOCK_BACK_S_MAX = 60;

/** Files of a part that its checksums do not list; each holds something. Source: parts of ClickHouse 26.7. */
const UNLISTED = new Set([
  'checksums.txt',
  'columns.txt',
  'columns_substreams.txt',
  'default_compression_codec.txt',
  'metadata_version.txt',
]);

/**
 * The embedded engine of ClickHouse 26.7 overlooks a write that fails: on a full disk an insert or a merge
 * can succeed and leave files of its part empty. The engine serves the part from memory and from its other
 * files until the next start, which detaches it, and by then the log may be trimmed.
 */
export function createWrittenParts(): WrittenParts {
  let since = 0;
  /** Of the parts since then. */
  let known: Set<string> | undefined;

  function note(parts: Part[]): void {
    since = Math.max(since, ...parts.map(({ writtenAt }) => writtenAt - CLOCK_BACK_S_MAX));
    known = new Set(parts.filter(({ writtenAt }) => writtenAt >= since).map(({ path }) => path));
  }

  const trustLoaded: WrittenParts['trustLoaded'] = async (connection) => {
    if (!known) note(await writtenSince(connection, 0));
  };

  return {
    trustLoaded,
    async faultOf(connection) {
      await trustLoaded(connection);
      const parts = await writtenSince(connection, since);
      // mutant: new-parts-not-measured
      for (const part of parts.filter(({ path }) => !known?.has(path))) {
        const fault = await measured(part);
        if (fault !== undefined) return fault;
      }
      note(parts);
      return undefined;
    },
  };
}

/** Not through the client: each insert waits for this, and the client takes as long as the statement. */
async function writtenSince({ chdb }: ChdbConnection, since: number): Promise<Part[]> {
  const rows = await chdb.queryAsync(inlineParameters(WRITTEN_SINCE, { since }), { format: 'JSON' });
  return rows.json<{ data: Part[] }>().data;
}

async function measured({ path, bytes }: Part): Promise<string | undefined> {
  const files = await filesOf(path);
  if (!files) return undefined;
  const isListed = ({ name }: { name: string }) => !UNLISTED.has(name);
  const empty = files.find((file) => file.bytes === 0 && !isListed(file));
  if (empty) return `${join(path, empty.name)} is empty`;
  // Of what is listed some files may be empty: values that are all empty, or rows that are all deleted.
  const listed = files.filter(isListed).reduce((sum, file) => sum + file.bytes, 0);
  return listed < bytes ? `${path} has ${listed} bytes of ${bytes}` : undefined;
}

/** Undefined when the part is gone: merged with others, expired or dropped. */
async function filesOf(path: string): Promise<Array<{ name: string; bytes: number }> | undefined> {
  try {
    const names = await readdir(path);
    return await Promise.all(
      names.map(async (name) => ({ name, bytes: (await stat(join(path, name))).size })),
    );
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
