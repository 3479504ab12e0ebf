import { environmentKeyOf, identityCheckOf } from '../domain/secrets.ts';

/**
 * What is derived from the installation's identity key: it makes event ids, so it is made once, kept in
 * Postgres and never rotated.
 */
export interface Identity {
  /** 16 bytes in the log and the record file: files of another installation do not open. */
  readonly check: Uint8Array;
  /** 32 bytes for one environment: 16 for ids, 16 for fingerprints. */
  keyOf(environment: string): Uint8Array;
}

/** Far more environments than one installation has; beyond it the keys are derived again. */
const KEYS_MAX = 10_000;

export function createIdentity(identityKey: Uint8Array): Identity {
  const keys = new Map<string, Uint8Array>();
  return {
    check: identityCheckOf(identityKey),
    keyOf(environment) {
      const known = keys.get(environment);
      if (known) return known;
      if (keys.size >= KEYS_MAX) keys.clear();
      const key = environmentKeyOf(identityKey, environment);
      keys.set(environment, key);
      return key;
    },
  };
}
