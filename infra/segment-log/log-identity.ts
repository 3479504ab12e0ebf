import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Fatal } from '../../schemas/failures.ts';
import { writeDurably } from '../platform/durable-file.ts';
import { listSegments } from './segment-file.ts';

/** Which log this is, and under which key its ids were made: `log.json`, written once in the log's life. */
export interface LogIdentity {
  logId: Buffer;
  identityCheck: Buffer;
}

/**
 * From 2 on segments of version 2 may be there, which the release that wrote 1 would take for damaged ones;
 * from 3 on frames of version 3, at which the load of the releases before would stop.
 */
const LOG_VERSION = 3;
const ID_HEX = /^[0-9a-f]{32}$/;

/** Undefined while no writer has made the log. Throws Fatal `log_identity_damaged` or `log_version_newer`. */
export function readLogIdentity(directory: string): LogIdentity | undefined {
  const { identity } = readLogFile(directory) ?? {};
  return identity;
}

function readLogFile(directory: string): { version: number; identity: LogIdentity } | undefined {
  const path = join(directory, 'log.json');
  const text = readIfThere(path);
  if (text === undefined) return undefined;
  const { version, logId, identityCheck } = parseFields(text);
  if (typeof version === 'number' && version > LOG_VERSION) {
    throw new Fatal(
      'log_version_newer',
      `${path} was written by a newer Metergate (version ${version}): start that one.`,
    );
  }
  if (!isKnown(version) || !isId(logId) || !isId(identityCheck)) {
    throw new Fatal('log_identity_damaged', `${path} cannot be read: restore it from a backup of this log.`);
  }
  const ids = { logId: Buffer.from(logId, 'hex'), identityCheck: Buffer.from(identityCheck, 'hex') };
  return { version, identity: ids };
}

/** Throws Fatal `identity_key_mismatch` when the log belongs to another identity key. */
export function ensureLogIdentity(directory: string, identityCheck: Uint8Array): LogIdentity {
  const known = readLogIdentity(directory);
  if (!known) return makeLogIdentity(directory, Buffer.from(identityCheck));
  rejectOtherIdentity(directory, known, identityCheck);
  return known;
}

/** Throws Fatal `identity_key_mismatch`. */
export function rejectOtherIdentity(directory: string, known: LogIdentity, identityCheck: Uint8Array): void {
  if (!known.identityCheck.equals(identityCheck)) {
    throw new Fatal(
      'identity_key_mismatch',
      `The log in ${directory} was written under another identity key than the database holds: log and ` +
        'database must be of one installation; restore the one that fits.',
    );
  }
}

function makeLogIdentity(directory: string, identityCheck: Buffer): LogIdentity {
  // A new id over old segments would give positions two meanings.
  if (listSegments(directory).length > 0) {
    throw new Fatal('log_identity_damaged', `${directory} holds segments and no log.json: restore it.`);
  }
  const identity = { logId: randomBytes(16), identityCheck };
  writeLogFile(directory, identity);
  return identity;
}

/** Before the first segment or frame of this version: from then on the releases before reject the log. */
export function raiseLogVersion(directory: string): void {
  const known = readLogFile(directory);
  // mutant: log-version-not-raised
  if (known && known.version < LOG_VERSION) writeLogFile(directory, known.identity);
}

function writeLogFile(directory: string, { logId, identityCheck }: LogIdentity): void {
  const fields = {
    version: LOG_VERSION,
    logId: logId.toString('hex'),
    identityCheck: identityCheck.toString('hex'),
  };
  writeDurably(join(directory, 'log.json'), `${JSON.stringify(fields)}\n`);
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function parseFields(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text)) as Record<string, unknown>;
  } catch {
    return {};
  }
}

function isKnown(version: unknown): version is number {
  return typeof version === 'number' && Number.isInteger(version) && version >= 1 && version <= LOG_VERSION;
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && ID_HEX.test(value);
}
