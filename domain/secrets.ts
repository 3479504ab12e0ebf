import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { existsSync, linkSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { dataDirAt } from '../infra/platform/data-dir.ts';
import { syncDirectory, writeDurably } from '../infra/platform/durable-file.ts';
import { retryUntilAvailable } from '../infra/platform/retry-until-available.ts';
import { Fatal, Poison, Transient } from '../schemas/failures.ts';
import { keepFact, readFact } from './store/installation.ts';

export interface DerivedSecrets {
  /** Under which API keys are hashed, 32 bytes. */
  keyPepper: Buffer;
  /** AES-256-GCM, for what has to be read back: 32 bytes. */
  sealingKey: Buffer;
  /** What the processes of one installation show each other, 32 bytes. */
  internalToken: Buffer;
  /** Under which customer tokens are signed, 32 bytes. */
  customerTokenKey: Buffer;
}

const SECRET_BYTES = 32;
const IDENTITY_KEY = 'identity_key';
const IDENTITY_KEY_BYTES = 32;
const SECRET_CHECK = 'server_secret_check';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * The root of the installation's keys: the one given, else the one of DATA_DIR, made at the first start.
 * Throws Fatal `server_secret_invalid`, `data_dir_closed` where its file is not ours to read, and
 * `server_secret_missing` where there was one: a new one would open nothing.
 */
export function readServerSecret({
  given,
  dataDir,
}: {
  given?: string | undefined;
  dataDir: string;
}): Buffer {
  const file = join(dataDir, 'server-secret');
  const text = given ?? readSecretFile(file);
  if (text === undefined && isInstalled(dataDir)) {
    throw new Fatal(
      'server_secret_missing',
      `${file} is missing, and the API keys are of no use without it: restore it, or set SERVER_SECRET.`,
    );
  }
  const secret = decodeServerSecret(text ?? makeSecretFile(file));
  if (secret) return secret;
  throw new Fatal(
    'server_secret_invalid',
    `${file} does not hold 32 bytes in base64: restore it, or set SERVER_SECRET.`,
  );
}

/** The log is made after the secret, at the end of a first start. */
function isInstalled(dataDir: string): boolean {
  return existsSync(join(dataDirAt(dataDir).log, 'log.json'));
}

/**
 * Compares the secret with the one that this database was made with; the first that comes is that one. Throws
 * Fatal `server_secret_mismatch`: under another secret every API key would be unknown.
 */
export async function checkServerSecret(pool: Pool, secret: Buffer, dataDir: string): Promise<void> {
  const check = Buffer.from(hkdfSync('sha256', secret, '', 'metergate/secret-check', 32));
  await keepFact(pool, SECRET_CHECK, check);
  if ((await readFact(pool, SECRET_CHECK))?.equals(check)) return;
  throw new Fatal(
    'server_secret_mismatch',
    `SERVER_SECRET, or ${join(dataDir, 'server-secret')} where it is not set, is of another installation ` +
      'than the database: restore the one that the database was made with.',
  );
}

/** 32 bytes from base64 text, or undefined when it is anything else. */
export function decodeServerSecret(text: string): Buffer | undefined {
  const bytes = Buffer.from(text.trim(), 'base64');
  return bytes.length === SECRET_BYTES && bytes.toString('base64') === text.trim() ? bytes : undefined;
}

export function deriveSecrets(secret: Buffer): DerivedSecrets {
  const derive = (purpose: string) => Buffer.from(hkdfSync('sha256', secret, '', `metergate/${purpose}`, 32));
  return {
    keyPepper: derive('api-key-pepper'),
    sealingKey: derive('sealing'),
    internalToken: derive('internal-token'),
    customerTokenKey: derive('customer-token'),
  };
}

/** How a key is stored and looked up: HMAC-SHA-256 of its text under the pepper. */
export function hashApiKey(key: string, pepper: Buffer): Buffer {
  return createHmac('sha256', pepper).update(key).digest();
}

/** Nonce, ciphertext and tag in one. `context` names its purpose: it opens for no other. */
export function seal(plain: Buffer, sealingKey: Buffer, context: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', sealingKey, nonce).setAAD(Buffer.from(context));
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** The inverse of {@link seal}. Throws Poison `seal_broken` for another key or context, or changed bytes. */
export function unseal(sealed: Buffer, sealingKey: Buffer, context: string): Buffer {
  try {
    const decipher = createDecipheriv('aes-256-gcm', sealingKey, sealed.subarray(0, NONCE_BYTES));
    decipher.setAAD(Buffer.from(context)).setAuthTag(sealed.subarray(-TAG_BYTES));
    return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
  } catch (cause) {
    throw new Poison('seal_broken', 'A sealed value does not open: was SERVER_SECRET changed?', { cause });
  }
}

/**
 * The key from which event ids are derived. It is made once in the life of an installation, kept with the
 * data and never rotated: under another key every replay would count again.
 */
export async function ensureIdentityKey(pool: Pool): Promise<Buffer> {
  await keepFact(pool, IDENTITY_KEY, randomBytes(IDENTITY_KEY_BYTES));
  const key = await readIdentityKey(pool);
  if (!key) throw new Fatal('identity_key_missing', 'The identity key vanished as soon as it was written.');
  return key;
}

/** The control side makes it at the very first start; until then nothing can be identified. */
export function waitForIdentityKey(pool: Pool, log: Logger): Promise<Buffer> {
  const read = async () => {
    const key = await readIdentityKey(pool);
    if (!key) throw new Transient('identity_key_missing', 'The control side has not made it yet.');
    return key;
  };
  return retryUntilAvailable('the identity key from Postgres', read, log);
}

/** Undefined on a database where no control side was yet. */
export async function readIdentityKey(pool: Pool): Promise<Buffer | undefined> {
  try {
    return await readFact(pool, IDENTITY_KEY);
  } catch (error) {
    if (isUndefinedTable(error)) return undefined;
    throw error;
  }
}

/** 16 bytes in the log and the record file: files of another installation are rejected. */
export function identityCheckOf(identityKey: Uint8Array): Buffer {
  return createHmac('sha256', identityKey).update('check').digest().subarray(0, 16);
}

/** 32 bytes for one environment: 16 for event ids, 16 for fingerprints. */
export function environmentKeyOf(identityKey: Uint8Array, environment: string): Buffer {
  return createHmac('sha256', identityKey).update(`environment ${environment}`).digest();
}

/** SQLSTATE 42P01: the migrations have not run yet. */
function isUndefinedTable(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '42P01';
}

function readSecretFile(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    if (code !== 'EACCES' && code !== 'EPERM') throw error;
    const message = `${file} is of another account (${code}): run Metergate under the one that has DATA_DIR.`;
    throw new Fatal('data_dir_closed', message, { cause: error });
  }
}

/** Both processes of a first start may come here: the first complete file stays, and both read that one. */
function makeSecretFile(file: string): string {
  const mine = `${file}.${process.pid}`;
  writeDurably(mine, randomBytes(SECRET_BYTES).toString('base64'));
  try {
    linkSync(mine, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  rmSync(mine);
  // Before anything is hashed under it.
  syncDirectory(dirname(file));
  return readFileSync(file, 'utf8');
}
