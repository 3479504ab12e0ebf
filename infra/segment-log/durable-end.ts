import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { Transient } from '../../schemas/failures.ts';
import { poll } from '../platform/poll.ts';

/**
 * The durable end of the log, published by its writer to every reader through a file of 32 bytes: log id
 * (16), end (u64), CRC-32 of both (u32), zero (u32).
 *
 * It is written after the frames were flushed and never flushed itself. So a power cut leaves an older end or
 * an unreadable one, never one beyond what is durable.
 */
export interface DurableEnd {
  publish(end: number): void;
  /**
   * The published end, or undefined when the file has no readable one: a write is just in progress, or there
   * was none.
   */
  look(): number | undefined;
  /** Throws Transient `durable_end_unreadable` when nothing readable comes within a quarter of a second. */
  read(): Promise<number>;
  close(): void;
}

const BYTES = 32;
const UNREADABLE = { timeoutMs: 250, everyMs: 1 };

/** Throws Transient `log_not_there` when a reader comes before the first writer. */
export function openDurableEnd(directory: string, logId: Uint8Array, access: 'write' | 'read'): DurableEnd {
  const file = openFile(join(directory, 'durable-end'), access);
  const found = Buffer.alloc(BYTES);

  function look(): number | undefined {
    const whole = readSync(file, found, 0, BYTES, 0) === BYTES;
    const holds = whole && crc32(found.subarray(0, 24)) === found.readUInt32LE(24);
    return holds && found.subarray(0, 16).equals(logId) ? Number(found.readBigUInt64LE(16)) : undefined;
  }

  return {
    look,
    publish(end) {
      const value = Buffer.alloc(BYTES);
      value.set(logId, 0);
      value.writeBigUInt64LE(BigInt(end), 16);
      value.writeUInt32LE(crc32(value.subarray(0, 24)), 24);
      writeSync(file, value, 0, BYTES, 0);
    },
    async read() {
      const end = look() ?? (await poll(look, UNREADABLE));
      if (end !== undefined) return end;
      throw new Transient('durable_end_unreadable', `The log in ${directory} has no readable durable end.`);
    },
    close: () => closeSync(file),
  };
}

function openFile(path: string, access: 'write' | 'read'): number {
  try {
    return openSync(path, access === 'read' ? 'r' : constants.O_RDWR | constants.O_CREAT, 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new Transient('log_not_there', `${path} does not exist yet.`);
  }
}
