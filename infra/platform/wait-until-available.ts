import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Fatal, Transient } from '../../schemas/failures.ts';
import { isUnavailable } from '../postgres/unavailable.ts';

export interface Store {
  /** The variable with its address. */
  variable: string;
  /** As an operator knows it: without user and password. */
  address: string;
}

const RETRY_EVERY_MS = 500;

/**
 * Does something with a store at the start of a role of its own as soon as that store is available. Throws
 * Fatal `bad_configuration`, one sentence that names the variable, when the store rejects us, when the
 * address does not exist, or when no server responded within `waitMs`. Other errors are thrown unchanged.
 */
export async function waitUntilAvailable<T>(
  store: Store,
  act: () => Promise<T>,
  { waitMs, log }: { waitMs: number; log: Logger },
): Promise<T> {
  const until = performance.now() + waitMs;
  for (let attempt = 1; ; attempt++) {
    try {
      return await act();
    } catch (error) {
      if (error instanceof Fatal) throw error;
      const rejection = rejectionOf(error);
      if (rejection !== undefined) throw badStore(store, `${store.address} ${rejection}`, error);
      if (!(error instanceof Transient) && !isUnavailable(error)) throw error;
      if (performance.now() >= until) throw badStore(store, silenceOf(store, waitMs), error);
      if (attempt === 1) log.info({ err: error }, `waiting for ${store.variable}`);
      await delay(RETRY_EVERY_MS);
    }
  }
}

/** Host and port of a URL; what is secret in it stays out of messages. */
export function addressOf(url: string): string {
  const { hostname, port, protocol } = new URL(url);
  return `${protocol}//${hostname}${port === '' ? '' : `:${port}`}`;
}

function silenceOf({ address }: Store, waitMs: number): string {
  return `no server responded at ${address} for ${waitMs / 1000} s. ${IS_IT_THERE}`;
}

const IS_IT_THERE = 'Is it the right address of a running server, and TLS on both sides or on neither?';

function badStore({ variable }: Store, why: string, cause: unknown): Fatal {
  return new Fatal('bad_configuration', `Bad configuration: ${variable}: ${why}`, { cause });
}

export const WRONG_LOGIN = 'rejects the user or the password.';
export const WRONG_CERTIFICATE =
  'shows a certificate that is not trusted: name your authority in NODE_EXTRA_CA_CERTS, or fix the address.';

export const NO_TLS = 'does not speak TLS.';

/** Permanent errors, by the codes of Node, Postgres (SQLSTATE) and ClickHouse (ErrorCodes.cpp). */
const REJECTIONS: Record<string, string> = {
  ENOTFOUND: 'is the name of no host.',
  '28P01': WRONG_LOGIN,
  '28000': WRONG_LOGIN,
  '3D000': 'has no such database.',
  '192': WRONG_LOGIN,
  '193': WRONG_LOGIN,
  '194': WRONG_LOGIN,
  '516': WRONG_LOGIN,
  '497': 'does not let this user do what Metergate needs.',
  DEPTH_ZERO_SELF_SIGNED_CERT: WRONG_CERTIFICATE,
  SELF_SIGNED_CERT_IN_CHAIN: WRONG_CERTIFICATE,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: WRONG_CERTIFICATE,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: WRONG_CERTIFICATE,
  ERR_TLS_CERT_ALTNAME_INVALID: WRONG_CERTIFICATE,
  CERT_HAS_EXPIRED: WRONG_CERTIFICATE,
  ERR_SSL_WRONG_VERSION_NUMBER: NO_TLS,
};
/** Of pg, which gives this one no code. */
const REJECTIONS_WITHOUT_CODE: Record<string, string> = {
  'The server does not support SSL connections': NO_TLS,
};
const CHAIN_MAX = 5;

/** Of the error or of what it wraps. */
function rejectionOf(error: unknown): string | undefined {
  let one = error;
  for (let depth = 0; depth < CHAIN_MAX && one instanceof Error; depth++) {
    const rejection = 'code' in one ? REJECTIONS[String(one.code)] : REJECTIONS_WITHOUT_CODE[one.message];
    if (rejection !== undefined) return rejection;
    one = one.cause;
  }
  return undefined;
}
