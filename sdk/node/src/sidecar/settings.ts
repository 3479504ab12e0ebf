import type { FallbackPolicy } from '../entitlements/check.ts';
import type { SpoolOptions } from '../spool/spool.ts';

export interface SidecarSettings {
  /** Of the server, without `/api/v1`. */
  url: string;
  /** A secret API key. */
  apiKey: string;
  /** On 127.0.0.1; 0 is any that is free. */
  port: number;
  /** In memory without it. */
  spool: SpoolOptions | undefined;
  fallback: FallbackPolicy | Record<string, FallbackPolicy>;
  /** How long events are sent after the signal to end. */
  closeTimeoutMs: number;
}

/** A variable that is missing or cannot be used. The message never has its value: it may be a secret. */
export class SettingError extends Error {
  override readonly name = 'SettingError';
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Of the variables of the environment. Throws a SettingError. */
export function readSettings(environment: Environment): SidecarSettings {
  const textOf = (name: string): string | undefined => environment[name]?.trim() || undefined;
  const numberOf = (name: string, limits: Limits): number => wholeNumber(name, textOf(name), limits);
  const folder = textOf('METERGATE_SPOOL');
  const bytesMax = numberOf('METERGATE_SPOOL_BYTES_MAX', { otherwise: 2 ** 28, min: 2 ** 20, max: 2 ** 40 });
  const fsync = fsyncOf(textOf('METERGATE_FSYNC') ?? 'interval');
  return {
    url: addressOf(textOf('METERGATE_URL')),
    apiKey: keyOf(textOf('METERGATE_KEY')),
    port: numberOf('PORT', { otherwise: 8790, min: 0, max: 65_535 }),
    spool: folder === undefined ? undefined : { folder, fsync, bytesMax },
    fallback: fallbackOf(textOf('METERGATE_FALLBACK') ?? 'closed'),
    closeTimeoutMs: numberOf('CLOSE_TIMEOUT_MS', { otherwise: 10_000, min: 0, max: 600_000 }),
  };
}

function addressOf(text: string | undefined): string {
  const url = parsedUrl(text ?? '');
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new SettingError(
      'METERGATE_URL must be the address of Metergate, such as https://usage.example.com',
    );
  }
  // It is in messages.
  if (url.username || url.password) throw new SettingError('METERGATE_URL must not have a password.');
  return url.href;
}

function parsedUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

function keyOf(text: string | undefined): string {
  if (text === undefined) throw new SettingError('METERGATE_KEY must be a secret API key.');
  if (!/^[!-~]+$/.test(text)) throw new SettingError('METERGATE_KEY has a character that no API key has.');
  return text;
}

function fsyncOf(text: string): NonNullable<SpoolOptions['fsync']> {
  if (text === 'none' || text === 'interval' || text === 'each') return text;
  throw new SettingError('METERGATE_FSYNC must be none, interval or each.');
}

/** `closed`, or one for each feature: `export=last_known,api_calls=open`. */
function fallbackOf(text: string): SidecarSettings['fallback'] {
  if (isPolicy(text)) return text;
  const pairs = text.split(',').map((pair) => {
    const [featureKey = '', policy = ''] = pair.split('=').map((part) => part.trim());
    if (featureKey !== '' && isPolicy(policy)) return [featureKey, policy] as const;
    throw new SettingError(
      'METERGATE_FALLBACK must be open, closed or last_known, or one for each: export=open,chat=closed',
    );
  });
  return Object.fromEntries(pairs);
}

function isPolicy(text: string): text is FallbackPolicy {
  return text === 'open' || text === 'closed' || text === 'last_known';
}

interface Limits {
  otherwise: number;
  min: number;
  max: number;
}

function wholeNumber(name: string, text: string | undefined, { otherwise, min, max }: Limits): number {
  if (text === undefined) return otherwise;
  const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= min && number <= max) return number;
  throw new SettingError(`${name} must be a whole number from ${min} to ${max}.`);
}
