/**
 * Values that all queries together make in one turn of the event loop, a few milliseconds of work. An
 * executor makes a whole list in one go: half a million values would keep all other requests waiting for a
 * second.
 */
const VALUES_OF_TURN = 1_000;

/** Spreads the lists of one request over the turns of the event loop. */
export interface Pace {
  /** Undefined: as much fits into this turn. Else it resolves in a later one. */
  turn(values: number): Promise<void> | undefined;
  /** The entries, in their order: those beyond what fits into this turn come in later ones. */
  spread<Entry>(entries: readonly Entry[], valuesOfEntry: number): Spread<Entry> | Promise<Spread<Entry>>;
  /** Runs it once no entry of the request waits: a read is then for all entries that need it. */
  whenSpread(run: () => void): void;
}

type Spread<Entry> = Array<Entry | Promise<Entry>>;

/** The paces of one process: their requests take turns round robin. */
export function createPacer(valuesMax = VALUES_OF_TURN): () => Pace {
  const take = createTurns(valuesMax);
  return () => paceOf(take, valuesMax);
}

/** Undefined: the values fit into this turn. */
type Take = (line: Line, values: number) => Promise<void> | undefined;

function createTurns(valuesMax: number): Take {
  const lines = new Set<Line>();
  let used = 0;
  let isScheduled = false;

  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(beginTurn);
  }

  function beginTurn(): void {
    isScheduled = false;
    used = 0;
    for (const line of lines) {
      if (!fits(line.nextValues())) break;
      used += line.admit();
      lines.delete(line);
      if (line.isWaiting()) lines.add(line);
    }
    if (used > 0) schedule();
  }

  /** One entry alone may have more than that. */
  function fits(values: number): boolean {
    return used === 0 || used + values <= valuesMax;
  }

  return (line, values) => {
    schedule();
    if (!line.isWaiting() && fits(values)) {
      used += values;
      return undefined;
    }
    lines.add(line);
    return line.wait(values);
  };
}

function paceOf(take: Take, valuesMax: number): Pace {
  const line = createLine();

  function later<Entry>(entries: readonly Entry[], together: number, valuesOfEntry: number): Spread<Entry> {
    const spread: Spread<Entry> = [];
    for (let at = 0; at < entries.length; at += together) {
      const some = entries.slice(at, at + together);
      const turn = take(line, some.length * valuesOfEntry);
      spread.push(...(turn ? some.map((entry) => turn.then(() => entry)) : some));
    }
    return spread;
  }

  const pace: Pace = {
    turn: (values) => take(line, values),
    spread(entries, valuesOfEntry) {
      const together = Math.max(1, Math.floor(valuesMax / Math.max(1, valuesOfEntry)));
      const [first, rest] = [entries.slice(0, together), entries.slice(together)];
      const turn = take(line, first.length * valuesOfEntry);
      const spread = () => [...first, ...later(rest, together, valuesOfEntry)];
      return turn ? turn.then(spread) : spread();
    },
    whenSpread(run) {
      setImmediate(() => (line.isWaiting() ? pace.whenSpread(run) : run()));
    },
  };
  return pace;
}

interface Line {
  isWaiting(): boolean;
  wait(values: number): Promise<void>;
  /** Of the first one. */
  nextValues(): number;
  /** Lets the first one go on, and returns its values. */
  admit(): number;
}

function createLine(): Line {
  let waiting: Array<{ values: number; goOn: () => void }> = [];
  let next = 0;
  return {
    isWaiting: () => waiting.length > 0,
    wait: (values) => new Promise((goOn) => waiting.push({ values, goOn })),
    nextValues: () => waiting[next]?.values ?? 0,
    admit() {
      const first = waiting[next];
      next += 1;
      if (next >= waiting.length) {
        waiting = [];
        next = 0;
      }
      first?.goOn();
      return first?.values ?? 0;
    },
  };
}
