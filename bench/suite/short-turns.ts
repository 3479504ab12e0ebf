import { controlOf, median, type Paired, rounded } from './paired.ts';

/** What was done and what it cost: of one turn, or of several added up. */
export type Run = Record<string, number>;

/** Of one candidate: half of its turns added up, and the other half, which is the same again. */
interface Halves<R extends Run> {
  first: R;
  second: R;
}

export type Round<Name extends string, R extends Run> = Record<Name, Halves<R>>;

/**
 * Other work on these cores makes them half as fast for a second or two: a turn is far shorter, and long
 * enough for what it costs to come back to a core that other work had.
 */
const TURN_MS = 100;

export interface RoundSizes {
  rounds: number;
  /** Of each candidate in a round. */
  runMs: number;
}

/** Rounds of many short turns of each candidate; the figures of a round are those of its turns added up. */
export async function inShortTurns<Name extends string, R extends Run>(
  { rounds, runMs }: RoundSizes,
  runners: Record<Name, (durationMs: number) => Promise<R>>,
): Promise<Array<Round<Name, R>>> {
  const found: Array<Round<Name, R>> = [];
  // Four are the fewest in which each half has one behind every other.
  const turns = 4 * Math.max(1, Math.round(runMs / TURN_MS / 4));
  for (let round = 0; round < rounds; round++) found.push(await oneRound(turns, runMs / turns, runners));
  return found;
}

async function oneRound<Name extends string, R extends Run>(
  turns: number,
  turnMs: number,
  runners: Record<Name, (durationMs: number) => Promise<R>>,
): Promise<Round<Name, R>> {
  const names = Object.keys(runners) as Name[];
  const runs = Object.fromEntries(names.map((name) => [name, [] as R[]])) as Record<Name, R[]>;
  for (let turn = 0; turn < turns; turn++) {
    // To and fro: none always follows the same one.
    for (const name of turn % 2 === 0 ? names : names.toReversed()) {
      runs[name].push(await runners[name](turnMs));
    }
  }
  const halves = names.map((name) => [name, halvesOf(runs[name])]);
  return Object.fromEntries(halves) as Round<Name, R>;
}

/**
 * Of four the outer two and the inner two: each half has one behind its own like and one behind another's,
 * and both have the same middle, so that a machine that slows down is no difference.
 */
function halvesOf<R extends Run>(runs: R[]): Halves<R> {
  const of = (half: number) => runs.filter((_, at) => ((at + 1) >> 1) % 2 === half).reduce(added);
  return { first: of(0), second: of(1) };
}

function added<R extends Run>(one: R, other: R): R {
  return Object.fromEntries(
    Object.entries(one).map(([name, figure]) => [name, figure + (other[name] ?? 0)]),
  ) as R;
}

export function wholeOf<R extends Run>({ first, second }: Halves<R>): R {
  return added(first, second);
}

/**
 * How much more another costs than ours, round by round. The control is one half of its turns against the
 * other.
 */
export function timesOurs<Name extends string, R extends Run>(
  rounds: ReadonlyArray<Round<Name | 'ours', R>>,
  name: Name,
  cost: (run: R) => number,
  ourCost = cost,
): Paired {
  const pairs = rounds.map((round) => cost(wholeOf(round[name])) / ourCost(wholeOf(round.ours)));
  const controls = rounds.map((round: Record<Name, Halves<R>>) => {
    return cost(round[name].second) / cost(round[name].first);
  });
  return { value: rounded(median(pairs)), ...controlOf(controls), pairs: pairs.map(rounded) };
}
