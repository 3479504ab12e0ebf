import { request } from 'undici';
import { Transient } from '../../schemas/failures.ts';
import { internalAuthorization, OWN_USAGE_PATH } from '../../schemas/stored/own-usage.ts';
import type { SendBatch } from './usage-writer.ts';

export interface HttpBatchesDeps {
  /** Of the process that takes usage; undefined while it is unknown. */
  url: () => string | undefined;
  /** What is shown to it. */
  token: Buffer;
}

/** A flush takes milliseconds, unless the disk or the process hangs. */
const TIMEOUT_MS = 5_000;

/** Batches that the process which takes usage writes (ingest/own-usage/serve-own-usage.ts). */
export function createHttpBatches({ url, token }: HttpBatchesDeps): SendBatch {
  const headers = { authorization: internalAuthorization(token), 'content-type': 'application/json' };
  return async ({ environment, change, body: sent }) => {
    const origin = url();
    if (origin === undefined) throw new Transient('usage_not_written', 'The data plane is not there yet.');
    const query = new URLSearchParams({ environment });
    if (change) query.set('change', `${change.number}`);
    if (change?.voids) query.set('voids', 'true');
    if (change?.of) query.set('of', `${change.of}`);
    try {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const target = `${origin}${OWN_USAGE_PATH}?${query}`;
      const { statusCode, body } = await request(target, { method: 'POST', headers, body: sent, signal });
      return { status: statusCode, body: Buffer.from(await body.arrayBuffer()) };
    } catch (cause) {
      throw new Transient('usage_not_written', 'The data plane does not respond.', { cause });
    }
  };
}
