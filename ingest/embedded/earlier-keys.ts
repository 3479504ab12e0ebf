import { crc32 } from 'node:zlib';
import { request } from 'undici';
import { Transient } from '../../schemas/failures.ts';
import {
  decodeKeyTrailer,
  type KeyExportRequest,
  type KeyExportTrailer,
  keyExportTarget,
  lacksKeys,
} from '../../schemas/stored/key-export.ts';
import { RECORD_BYTES } from '../../schemas/stored/record.ts';

export interface EarlierKeysDeps {
  /** The URL of the control plane; undefined while it is unknown. */
  controlUrl: () => string | undefined;
  /** What is shown to it. */
  token: Buffer;
}

/** The control plane searches for the first of them before it responds, and each piece takes a statement. */
const TIMEOUTS = { headersTimeout: 60_000, bodyTimeout: 120_000 };

/**
 * Records of what was on the log before its start, from the control side. Throws Transient
 * `keys_unavailable` unless all of them came whole, and `keys_incomplete` when the warehouse holds fewer than
 * were stored in it.
 */
export async function* earlierKeys(
  { controlUrl, token }: EarlierKeysDeps,
  wanted: KeyExportRequest,
): AsyncGenerator<Buffer> {
  let [recordsCrc, recordCount] = [0, 0];
  let held = Buffer.alloc(0);
  for await (const piece of piecesOf(controlUrl(), token, wanted)) {
    held = Buffer.concat([held, piece]);
    // The last record's length may be the trailer.
    const whole = Math.max(0, Math.floor(held.length / RECORD_BYTES) - 1) * RECORD_BYTES;
    const records = held.subarray(0, whole);
    held = held.subarray(whole);
    recordsCrc = crc32(records, recordsCrc);
    recordCount += whole / RECORD_BYTES;
    if (whole > 0) yield records;
  }
  const trailer = decodeKeyTrailer(held);
  if (trailer?.recordsCrc !== recordsCrc || trailer.recordCount !== recordCount) {
    throw unavailable('The keys did not come whole.');
  }
  if (lacksKeys(trailer)) throw incomplete(trailer);
}

async function* piecesOf(
  url: string | undefined,
  token: Buffer,
  wanted: KeyExportRequest,
): AsyncGenerator<Buffer> {
  if (url === undefined) throw unavailable('The control side is not there yet.');
  try {
    const headers = { authorization: `Internal ${token.toString('base64url')}` };
    const { statusCode, body } = await request(`${url}${keyExportTarget(wanted)}`, { headers, ...TIMEOUTS });
    if (statusCode === 200) {
      yield* body;
      return;
    }
    await body.dump();
  } catch (cause) {
    throw unavailable('The control side does not give the keys.', cause);
  }
  throw unavailable('The control side has no keys to give yet.');
}

function unavailable(message: string, cause?: unknown): Transient {
  return new Transient('keys_unavailable', message, { cause });
}

function incomplete({ recordCount, countMin }: KeyExportTrailer): Transient {
  return new Transient(
    'keys_incomplete',
    `The keys are lost, and of ${countMin} events that were acknowledged and stored or rejected only ` +
      `${recordCount} are found: restore DATA_DIR/keys or the warehouse. Where ${countMin - recordCount} ` +
      'of them were deleted on purpose, take so many off `events` in the table `log_trims` of Postgres: ' +
      'their keys are forgotten then, and what is sent again of them counts again.',
  );
}
