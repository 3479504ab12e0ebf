import { createHash, timingSafeEqual } from 'node:crypto';
import type { Rejection } from '../../schemas/error-codes.ts';

/** Where `/metrics` and the details of `/readyz` are, and which callers may read them. */
export interface OperatorPages {
  /** Absent: the public port. */
  metricsPort?: number;
  metricsHost: string;
  /** A secret. Absent: every caller may read. */
  metricsToken?: string;
}

/** A caller of `/metrics` or `/readyz`. */
export interface OperatorCaller {
  authorization: string | undefined;
  /** By which it came in. */
  localPort?: number | undefined;
}

/** Which callers see `/metrics` and more of `/readyz` than its status: all, unless configured otherwise. */
export interface OperatorAccess {
  /** The `/metrics` page for this caller; undefined where the caller sees everything. */
  rejectionOf(caller: OperatorCaller): Rejection | undefined;
}

/** @param own another token, by which processes of one Metergate read each other. */
export function createOperatorAccess(
  { metricsPort, metricsToken }: Partial<OperatorPages>,
  own?: string,
): OperatorAccess {
  const isOpen = metricsPort === undefined && metricsToken === undefined;

  function rejectionOf({ authorization, localPort }: OperatorCaller): Rejection | undefined {
    if (isOpen || isBearer(authorization, own)) return undefined;
    if (metricsPort !== undefined && localPort !== metricsPort) return ELSEWHERE;
    return metricsToken === undefined || isBearer(authorization, metricsToken) ? undefined : TOKEN_NEEDED;
  }

  return { rejectionOf };
}

const ELSEWHERE: Rejection = { code: 'not_found', message: 'Metrics are on a port of their own.' };
const TOKEN_NEEDED: Rejection = {
  code: 'unauthenticated',
  message: 'Metrics need the token of METRICS_TOKEN: Authorization: Bearer TOKEN.',
};

const BEARER = /^Bearer +(\S+)$/i;

/** The time it takes reveals nothing of the token, not even its length. */
function isBearer(authorization: string | undefined, token: string | undefined): boolean {
  const given = authorization === undefined ? undefined : BEARER.exec(authorization)?.[1];
  return given !== undefined && token !== undefined && timingSafeEqual(digest(given), digest(token));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

export const OPEN_ACCESS: OperatorAccess = createOperatorAccess({});
