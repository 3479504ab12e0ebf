import { parseUrl } from '../../infra/platform/parse-url.ts';
import { numberOption, readOptions, Unusable } from '../read-options.ts';

/** The options of `npm run bench:load`. */
export interface LoadArguments {
  url: URL;
  key: string;
  /** Events per second. */
  rate: number;
  /** Events of a request; 1 goes through the single endpoint. */
  batch: number;
  /** Share of the events that were sent before. */
  replays: number;
  /** Of each event. */
  properties: number;
  connections: number;
  gzip: boolean;
  durationMs: number;
  seed: number;
  /** Where the result is written. */
  out: string;
}

export const USAGE = `npm run bench:load -- --key KEY [--url http://127.0.0.1:8080] [--rate 10000]
  [--batch 500] [--replays 0.2] [--properties 3] [--connections 8] [--gzip]
  [--duration 30s] [--seed 1] [--out FOLDER]`;

const OPTIONS = {
  url: { type: 'string', default: 'http://127.0.0.1:8080' },
  key: { type: 'string' },
  rate: { type: 'string', default: '10000' },
  batch: { type: 'string', default: '500' },
  replays: { type: 'string', default: '0.2' },
  properties: { type: 'string', default: '3' },
  connections: { type: 'string', default: '8' },
  gzip: { type: 'boolean', default: false },
  duration: { type: 'string', default: '30s' },
  seed: { type: 'string', default: '1' },
  out: { type: 'string', default: 'bench/results' },
} as const;

/**
 * Throws Unusable with what to do. The key may be given in METERGATE_KEY, which no list of processes shows.
 */
export function readLoadArguments(args: string[], env: Record<string, string | undefined>): LoadArguments {
  const values = readOptions(OPTIONS, args);
  const key = values.key ?? env.METERGATE_KEY;
  if (key === undefined || key === '') throw new Unusable('no key: give --key sk_… or set METERGATE_KEY');
  if (!/^[\x21-\x7e]+$/.test(key)) throw new Unusable('--key holds what no key holds');
  return {
    url: urlOf(values.url),
    key,
    rate: numberOption('rate', values.rate, { from: 1, to: 10_000_000 }),
    batch: numberOption('batch', values.batch, { from: 1, to: 500, whole: true }),
    replays: numberOption('replays', values.replays, { from: 0, to: 0.9 }),
    properties: numberOption('properties', values.properties, { from: 0, to: 32, whole: true }),
    connections: numberOption('connections', values.connections, { from: 1, to: 1_000, whole: true }),
    gzip: values.gzip,
    durationMs: durationOf(values.duration),
    seed: numberOption('seed', values.seed, { from: 0, to: 2 ** 32 - 1, whole: true }),
    out: values.out,
  };
}

function urlOf(text: string): URL {
  const url = parseUrl(text);
  if (!url || !['http:', 'https:'].includes(url.protocol) || !['', '/'].includes(url.pathname)) {
    throw new Unusable(`--url ${text} is no http(s)://host:port`);
  }
  return url;
}

const UNIT_MS: Record<string, number> = { '': 1_000, ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
const DURATION_MS_MAX = 24 * 3_600_000;

function durationOf(text: string): number {
  const [, digits = '', unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text) ?? [];
  const ms = Number(digits) * (UNIT_MS[unit] ?? Number.NaN);
  if (!(ms >= 100 && ms <= DURATION_MS_MAX)) {
    throw new Unusable(`--duration ${text} is no time from 100ms to 24h, such as 30s or 10m`);
  }
  return ms;
}
