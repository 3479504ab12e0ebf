export interface EndpointQueuesOptions<Job> {
  /** Never rejects. */
  run: (job: Job) => Promise<JobOutcome>;
  /** Attempts of one endpoint at once. */
  concurrency: number;
  /** Failures in a row, after which an endpoint queue is shut. */
  failuresMax: number;
  /** Attempts of all endpoints at once. */
  runningMax: number;
  /** Held of one endpoint: `concurrency` at first, and more for an endpoint that is quick. */
  heldOfOneMax: number;
  /** Held of all endpoints. */
  heldMax: number;
  /** False: nothing begins until {@link EndpointQueues.go} is called. */
  mayBegin: () => boolean;
  /** A queue that was cut off has room again. */
  onCapacity: () => void;
  /** The waiting jobs of a queue that was shut. */
  onShut: (jobs: Job[]) => void;
}

/** `gone`: the endpoint wants nothing more. `late`: the job waited too long and was not begun. */
export type JobOutcome = 'succeeded' | 'failed' | 'gone' | 'late';

export interface QueueSigns {
  /** Failures in a row, as far as they are recorded. */
  failures: number;
  /** As many were taken as there was room for: there may be more. */
  isCutOff: boolean;
}

/**
 * The jobs that one process has taken and not yet tried, and those it is trying: a queue for each endpoint.
 * The queues take turns, one job each, so an endpoint with many waiting jobs gets no more of the process than
 * one with a single job. A queue that runs empty while there are more jobs for it may take twice as many next
 * time. A queue that fails too often is shut until its outcomes are recorded, which decide whether it may
 * continue.
 */
export class EndpointQueues<Job> {
  readonly #options: EndpointQueuesOptions<Job>;
  readonly #queues = new Map<string, EndpointQueue<Job>>();
  /** Those that have a job and may begin it, in their order. */
  readonly #turns = new Set<EndpointQueue<Job>>();
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
  add(endpointId: string, jobs: readonly Job[], signs: QueueSigns): void {
    const queue = this.#queues.get(endpointId) ?? newQueue(this.#options.concurrency);
    this.#queues.set(endpointId, queue);
    queue.isCutOff = signs.isCutOff;
    queue.failures = Math.max(queue.failures, signs.failures);
    queue.waiting.push(...jobs);
    this.#enqueue(queue);
    this.go();
  }

  /** How many more each endpoint may be given that is known here; of others none is held. */
  capacities(): Map<string, number> {
    const { concurrency, heldOfOneMax, heldMax } = this.#options;
    const share = Math.floor(heldMax / 2 / this.#queues.size);
    const sizeMax = Math.max(concurrency, Math.min(heldOfOneMax, share));
    const capacities = new Map<string, number>();
    for (const [id, queue] of this.#queues) {
      if (queue.isDry && queue.isCutOff) queue.size *= 2;
      queue.size = Math.min(queue.size, sizeMax);
      queue.isDry = false;
      const held = heldBy(queue);
      const capacity = queue.isShut ? 0 : Math.max(0, queue.size - held);
      if (held + queue.unrecorded === 0 && !queue.isCutOff) this.#queues.delete(id);
      else capacities.set(id, capacity);
      if (capacity > 0) queue.isCutOff = false;
    }
    return capacities;
  }

  /** Begins whatever may begin: to be called when `mayBegin` has changed. */
  go(): void {
    // A queue that is added again is visited again within the same loop.
    for (const queue of this.#turns) {
      if (this.#isClosed || this.#running >= this.#options.runningMax || !this.#options.mayBegin()) return;
      this.#turns.delete(queue);
      const job = queue.waiting.shift();
      if (job === undefined) continue;
      if (queue.waiting.length === 0) queue.isDry = true;
      void this.#run(queue, job);
      this.#enqueue(queue);
    }
  }

  /** What came of one job of an endpoint is recorded. */
  recorded(endpointId: string): void {
    const queue = this.#queues.get(endpointId);
    if (!queue) return;
    queue.unrecorded -= 1;
    if (queue.unrecorded === 0) queue.isShut = false;
  }

  /** What is to be begun next of each endpoint for which anything waits. */
  next(): Map<string, Job> {
    const waiting = [...this.#queues].flatMap(
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
    return this.#queues.get(endpointId)?.waiting.splice(0) ?? [];
  }

  /** Begins nothing any more, and gives what waits. */
  close(): Job[] {
    this.#isClosed = true;
    return [...this.#queues.values()].flatMap((queue) => queue.waiting.splice(0));
  }

  async #run(queue: EndpointQueue<Job>, job: Job): Promise<void> {
    queue.running += 1;
    this.#running += 1;
    const outcome = await this.#options.run(job);
    queue.running -= 1;
    this.#running -= 1;
    this.#learn(queue, outcome);
    this.#enqueue(queue);
    this.go();
    if (queue.isCutOff && heldBy(queue) <= queue.size / 2) this.#options.onCapacity();
  }

  #learn(queue: EndpointQueue<Job>, outcome: JobOutcome): void {
    if (outcome === 'late') {
      queue.size = this.#options.concurrency;
      return;
    }
    queue.unrecorded += 1;
    queue.failures = outcome === 'succeeded' ? 0 : queue.failures + 1;
    if (outcome !== 'gone' && queue.failures < this.#options.failuresMax) return;
    queue.isShut = true;
    this.#options.onShut(queue.waiting.splice(0));
  }

  #enqueue(queue: EndpointQueue<Job>): void {
    if (queue.waiting.length > 0 && queue.running < this.limit) this.#turns.add(queue);
  }
}

interface EndpointQueue<Job> extends QueueSigns {
  waiting: Job[];
  running: number;
  /** The most jobs that it may have. */
  size: number;
  /** Its last job began after the last call of `capacities`. */
  isDry: boolean;
  isShut: boolean;
  /** Ended, and not recorded yet. */
  unrecorded: number;
}

function newQueue<Job>(size: number): EndpointQueue<Job> {
  const none = { running: 0, unrecorded: 0, failures: 0 };
  return { waiting: [], size, ...none, isDry: false, isShut: false, isCutOff: false };
}

function heldBy({ waiting, running }: EndpointQueue<unknown>): number {
  return waiting.length + running;
}
