import { numberOption, readOptions, Unusable } from '../read-options.ts';
import type { ShapeName } from './disk-bytes.ts';

/** How much of everything a run of the suite does. */
export interface Sizes {
  runMs: number;
  rounds: number;
  /** At a fixed rate, while the age of the count is looked at. */
  freshnessMs: number;
  /** Of each shape of requests, while what is written is counted. */
  writtenMs: number;
  /** As fast as it is counted. */
  sustainedMs: number;
  /** Of each shape, in an installation of its own. */
  diskEvents: Record<ShapeName, number>;
  /** In one table; none where that is left out. */
  manyKeys: number;
  /** When reads are timed: how many were taken until then is as the machine is. */
  storedEvents: number;
  /** However many are stored: this many are taken at once, to measure what is counted per second. */
  costedEvents: number;
  counterSamples: number;
  checkRounds: number;
  keyMillions: string;
  stageBatches: number;
  /** Events stored when reads are timed, ascending. */
  growth: number[];
  soakMs: number;
  /** Of one ingest process and two on a broker; none where that is left out. */
  distributedRounds: number;
}

/** The options of `npm run bench`. */
export interface SuiteArguments {
  form: 'quick' | 'whole' | 'scale';
  sizes: Sizes;
  /** Names of parts that are left out. */
  skip: string[];
}

const QUICK: Sizes = {
  runMs: 400,
  rounds: 7,
  freshnessMs: 8_000,
  writtenMs: 1_500,
  sustainedMs: 10_000,
  diskEvents: { mid: 320_000, wide: 160_000 },
  manyKeys: 0,
  storedEvents: 3_400_000,
  costedEvents: 400_000,
  counterSamples: 6,
  checkRounds: 7,
  keyMillions: '4',
  stageBatches: 3_000,
  growth: [],
  soakMs: 0,
  distributedRounds: 0,
};
const WHOLE: Sizes = {
  runMs: 1_200,
  rounds: 9,
  freshnessMs: 60_000,
  writtenMs: 5_000,
  sustainedMs: 60_000,
  diskEvents: { mid: 2_560_000, wide: 800_000 },
  manyKeys: 2_000_000,
  storedEvents: 14_000_000,
  costedEvents: 3_000_000,
  counterSamples: 30,
  checkRounds: 20,
  keyMillions: '4,10',
  stageBatches: 20_000,
  growth: [1_000_000, 5_000_000],
  soakMs: 0,
  distributedRounds: 7,
};
const OPTIONS = {
  quick: { type: 'boolean', default: false },
  scale: { type: 'boolean', default: false },
  millions: { type: 'string' },
  minutes: { type: 'string' },
  skip: { type: 'string', multiple: true, default: [] as string[] },
} as const;
const MILLIONS = { from: 0.001, to: 1_000 };
const MINUTES = { from: 0.001, to: 24 * 60 };

/** Throws Unusable with one line of what is wrong. */
export function readSuiteArguments(args: string[], parts: readonly string[]): SuiteArguments {
  const { quick, scale, skip, millions, minutes } = readOptions(OPTIONS, args);
  const unknown = skip.find((name) => !parts.includes(name));
  if (unknown !== undefined) throw new Unusable(`--skip ${unknown} is no part: ${parts.join(', ')}`);
  if (quick && scale) throw new Unusable('--quick and --scale are two forms: give one');
  if (!scale && (millions ?? minutes) !== undefined) {
    throw new Unusable('--millions and --minutes are of the form --scale');
  }
  if (!scale) return { form: quick ? 'quick' : 'whole', sizes: quick ? QUICK : WHOLE, skip };
  const growth = (millions ?? '1,10,50').split(',').map((text) => numberOption('millions', text, MILLIONS));
  const soakMs = numberOption('minutes', minutes ?? '10', MINUTES) * 60_000;
  const sizes = {
    ...WHOLE,
    keyMillions: '10,50',
    manyKeys: 100_000_000,
    growth: growth.map((one) => one * 1_000_000).sort((a, b) => a - b),
    soakMs,
  };
  return { form: 'scale', sizes, skip };
}
