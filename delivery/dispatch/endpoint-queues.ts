export interface EndpointQueuesOptions<Job> {
  /** Never rejects. */
  run: (job: Job) => Promise<JobOutcome>;
  /** Of one endpoint, at once. */
  concurrency: number;
  /** In a row, after which a lane is shut. */
  failuresMax: number;
  /** Of all endpoints, at once. */
  runningMax: number;
  /** Held of one endpoint: `concurrency` at first, and more of one that is quick. */
  heldOfOneMax: number;
  /** Held of all. */
  heldMax: number;
  /** False: nothing is begun until {@link Lanes.go} is called. */
  mayBegin: () => boolean;
  /** A lane that was cut off has room again. */
  onRoom: () => void;
  /** What waited in a lane that was shut. */
  onShut: (jobs: Job[]) => void;
}

/** `gone`: nothing more is wanted. `late`: it had waited too long, and was not begun. */
export type JobOutcome = 'succeeded' | 'failed' | 'gone' | 'late';

export interface LaneSigns {
  /** In a row, as far as they are recorded. */
  failures: number;
  /** As many were given as there was room for: there may be more. */
  isCutOff: boolean;
}

/**
 * What one process has taken and not yet tried, and what it is trying: a lane for each endpoint. Lanes take
 * turns, a job each: who has much waiting gets no more of the process than who has one. A lane that runs dry
 * while there is more for it may hold twice as many next time. One that fails too often is shut until what it
 * did is recorded, and with it whether it may go on.
 */
export class EndpointQueues<Job> {
  readonly #options: EndpointQueuesOptions<Job>;
  readonly #lanes = new Map<string, Lane<Job>>();
  /** Those that have a job and may begin it, in their order. */
  readonly #turns = new Set<Lane<Job>>();
  #running = 0;
  #isClosed = false;

  constructor(options: EndpointQueuesOptions<Job>) {
    this.#options = options;
  }

  /** Being tried. */
  get running(): number {
    return this.#running;
  }

  /**
   * How many of one endpoint may run now, and of one that is not known here may be given. When half of all
   * that may run does, it is one: hundreds of endpoints that hang at once leave the others room.
   */
  get limit(): number {
    const { concurrency, runningMax } = this.#options;
    return this.#running > runningMax / 2 ? 1 : concurrency;
  }

  /** Behind what waits for the same endpoint. What there is room for begins at once. */
  add(endpointId: string, jobs: readonly Job[], signs: LaneSigns): void {
    const lane = this.#lanes.get(endpointId) ?? newLane(this.#options.concurrency);
    this.#lanes.set(endpointId, lane);
    lane.isCutOff = signs.isCutOff;
    lane.failures = Math.max(lane.failures, signs.failures);
    lane.waiting.push(...jobs);
    this.#enqueue(lane);
    this.go();
  }

  /** How many more each endpoint may be given that is known here; of others none is held. */
  rooms(): Map<string, number> {
    const { concurrency, heldOfOneMax, heldMax } = this.#options;
    const share = Math.floor(heldMax / 2 / this.#lanes.size);
    const sizeMax = Math.max(concurrency, Math.min(heldOfOneMax, share));
    const rooms = new Map<string, number>();
    for (const [id, lane] of this.#lanes) {
      if (lane.isDry && lane.isCutOff) lane.size *= 2;
      lane.size = Math.min(lane.size, sizeMax);
      lane.isDry = false;
      const held = heldBy(lane);
      const room = lane.isShut ? 0 : Math.max(0, lane.size - held);
      if (held + lane.unrecorded === 0 && !lane.isCutOff) this.#lanes.delete(id);
      else rooms.set(id, room);
      if (room > 0) lane.isCutOff = false;
    }
    return rooms;
  }

  /** Begins whatever may begin: to be called when `mayBegin` has changed. */
  go(): void {
    // A lane that is put in again comes again within the same walk.
    for (const lane of this.#turns) {
      if (this.#isClosed || this.#running >= this.#options.runningMax || !this.#options.mayBegin()) return;
      this.#turns.delete(lane);
      const job = lane.waiting.shift();
      if (job === undefined) continue;
      if (lane.waiting.length === 0) lane.isDry = true;
      void this.#run(lane, job);
      this.#enqueue(lane);
    }
  }

  /** What came of one job of an endpoint is recorded. */
  recorded(endpointId: string): void {
    const lane = this.#lanes.get(endpointId);
    if (!lane) return;
    lane.unrecorded -= 1;
    if (lane.unrecorded === 0) lane.isShut = false;
  }

  /** What is to be begun next of each endpoint for which anything waits. */
  next(): Map<string, Job> {
    const waiting = [...this.#lanes].flatMap(
      ([
        id,
        {
          waiting: [first],
        },
      ]): Array<[string, Job]> => (first === undefined ? [] : [[id, first]]),
    );
    return new Map(waiting);
  }

  /** Gives what waits for one endpoint: it is not to be begun. */
  clear(endpointId: string): Job[] {
    return this.#lanes.get(endpointId)?.waiting.splice(0) ?? [];
  }

  /** Begins nothing any more, and gives what waits. */
  close(): Job[] {
    this.#isClosed = true;
    return [...this.#lanes.values()].flatMap((lane) => lane.waiting.splice(0));
  }

  async #run(lane: Lane<Job>, job: Job): Promise<void> {
    lane.running += 1;
    this.#running += 1;
    const outcome = await this.#options.run(job);
    lane.running -= 1;
    this.#running -= 1;
    this.#learn(lane, outcome);
    this.#enqueue(lane);
    this.go();
    if (lane.isCutOff && heldBy(lane) <= lane.size / 2) this.#options.onRoom();
  }

  #learn(lane: Lane<Job>, outcome: JobOutcome): void {
    if (outcome === 'late') {
      lane.size = this.#options.concurrency;
      return;
    }
    lane.unrecorded += 1;
    lane.failures = outcome === 'succeeded' ? 0 : lane.failures + 1;
    if (outcome !== 'gone' && lane.failures < this.#options.failuresMax) return;
    lane.isShut = true;
    this.#options.onShut(lane.waiting.splice(0));
  }

  #enqueue(lane: Lane<Job>): void {
    if (lane.waiting.length > 0 && lane.running < this.limit) this.#turns.add(lane);
  }
}

interface Lane<Job> extends LaneSigns {
  waiting: Job[];
  running: number;
  /** How many it may hold. */
  size: number;
  /** Its last job was begun since it was asked for room. */
  isDry: boolean;
  isShut: boolean;
  /** Ended, and not recorded yet. */
  unrecorded: number;
}

function newLane<Job>(size: number): Lane<Job> {
  const none = { running: 0, unrecorded: 0, failures: 0 };
  return { waiting: [], size, ...none, isDry: false, isShut: false, isCutOff: false };
}

function heldBy({ waiting, running }: Lane<unknown>): number {
  return waiting.length + running;
}
