import type { AttemptError } from '../../schemas/stored/webhook-attempt.ts';

/** What is known of an endpoint from how its last attempts ended. */
export interface Circuit {
  /** In a row. */
  failures: number;
  /** The first of them ended then. */
  failingSinceMs: number | undefined;
  /** Set while the circuit is open: nothing is sent before this time, and then one delivery, the probe. */
  untilMs: number | undefined;
  /** That have failed since it opened. */
  probes: number;
  /** How the last of them ended: the HTTP status, or why there was none. */
  lastStatus: number | undefined;
  lastError: AttemptError | undefined;
}

export interface EndedAttempt {
  isSuccess: boolean;
  isProbe: boolean;
  endedAtMs: number;
  status?: number | undefined;
  errorCode?: AttemptError | undefined;
}

export const CLOSED: Circuit = {
  failures: 0,
  failingSinceMs: undefined,
  untilMs: undefined,
  probes: 0,
  lastStatus: undefined,
  lastError: undefined,
};

/** In a row, with none that succeeded in between. */
export const FAILURES_TO_OPEN = 10;
const PAUSE_MS = { first: 5_000, most: 300_000 };
/** Endpoints that failed together are not probed together. */
const JITTER = 0.2;
const DISABLED_AFTER_MS = 5 * 86_400_000;

/**
 * A circuit opens after ten failures in a row, so that an endpoint that is down costs an occasional probe
 * and no delivery uses up attempts on it. The pause doubles with each failed probe, from 5 s to 5 min; one
 * success closes the circuit. Attempts that were running when it opened count, and do not extend the pause.
 */
export function afterAttempt(circuit: Circuit, ended: EndedAttempt, random: () => number): Circuit {
  if (ended.isSuccess) return CLOSED;
  const failures = circuit.failures + 1;
  const failingSinceMs = circuit.failingSinceMs ?? ended.endedAtMs;
  const last = { lastStatus: ended.status, lastError: ended.errorCode };
  const failing = { ...circuit, ...last, failures, failingSinceMs };
  // mutant: circuit-never-opens
  const opens = circuit.untilMs === undefined && failures >= FAILURES_TO_OPEN;
  if (!opens && !(circuit.untilMs !== undefined && ended.isProbe)) return failing;
  const probes = opens ? 0 : circuit.probes + 1;
  const pauseMs = Math.min(PAUSE_MS.first * 2 ** probes, PAUSE_MS.most);
  const untilMs = Math.round(ended.endedAtMs + pauseMs * (1 - JITTER + 2 * JITTER * random()));
  return { ...failing, probes, untilMs };
}

/** Of an attempt that failed: nothing else has happened for five days. */
export function isGivenUp({ failingSinceMs }: Circuit, endedAtMs: number): boolean {
  return failingSinceMs !== undefined && endedAtMs - failingSinceMs >= DISABLED_AFTER_MS;
}
