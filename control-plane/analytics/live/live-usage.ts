import type { Readable } from 'node:stream';
import type { Clock } from '../../../infra/ports/clock.ts';
import { Rejected } from '../../../schemas/failures.ts';
import { type CountedLines, type CountedLinesDeps, createCountedLines } from './counted-lines.ts';
import { environmentIn } from './event-line.ts';
import { createLiveStream, type LiveFilter, type LiveStream } from './live-stream.ts';

/** Streams of usage events as they are counted, to the viewers of this process. */
export interface LiveUsage {
  /**
   * Begins with what is counted after it. Throws Rejected `rate_limited` when the environment or the process
   * has as many streams as it may have; throws Transient.
   */
  open(viewer: Viewer): Promise<Readable>;
  /** More is counted. */
  wake(): void;
  /** Ends all streams; from now on none begins. */
  end(): void;
}

export interface Viewer extends LiveFilter {
  environment: string;
  forMs: number;
  /** Whether its key may still read. Called every few seconds. */
  isAllowed(): Promise<boolean>;
}

export interface LiveLimits {
  /** Of one environment. */
  streamsShareMax: number;
  /** Each takes a connection from the data plane, which has 512. */
  streamsMax: number;
}

const LIMITS: LiveLimits = { streamsShareMax: 10, streamsMax: 100 };
const SECOND_MS = 1_000;
/** In seconds. A proxy that closes silent connections waits longer; a revoked key is rejected within ten. */
const HEARTBEAT_EVERY = 10;
const CHECK_EVERY = 4;

interface Open {
  viewer: Viewer;
  stream: LiveStream;
  endsAtMs: number;
  seconds: number;
}

export interface LiveUsageDeps extends Omit<CountedLinesDeps, 'onLine' | 'onGap'> {
  clock: Clock;
}

export function createLiveUsage(deps: LiveUsageDeps, limits: LiveLimits = LIMITS): LiveUsage {
  const viewers = createViewers(deps.clock, limits, stopReading);
  let timer: NodeJS.Timeout | undefined;
  let starting: Promise<void> | undefined;
  const lines: CountedLines = createCountedLines({
    ...deps,
    onLine(line) {
      const environment = environmentIn(line);
      for (const { viewer, stream } of viewers.open) {
        if (viewer.environment === environment) stream.offer(line);
      }
    },
    onGap() {
      for (const { stream } of viewers.open) stream.gap();
    },
  });

  function stopReading(): void {
    clearInterval(timer);
    lines.stop();
    starting = undefined;
  }

  async function begin(): Promise<void> {
    await lines.start();
    clearInterval(timer);
    // The viewer may have left meanwhile.
    if (viewers.open.size === 0) lines.stop();
    else timer = setInterval(viewers.second, SECOND_MS);
  }

  return {
    async open(viewer) {
      const { body } = viewers.admit(viewer);
      starting ??= begin();
      try {
        await starting;
      } catch (error) {
        starting = undefined;
        body.destroy();
        throw error;
      }
      return body;
    },
    wake: lines.wake,
    end: viewers.end,
  };
}

/** Those that have a stream. `onEmpty`: the last one has left. */
function createViewers(clock: Clock, limits: LiveLimits, onEmpty: () => void) {
  const open = new Set<Open>();
  let isEnded = false;

  function second(one: Open): void {
    one.seconds += 1;
    one.stream.second();
    if (one.seconds % HEARTBEAT_EVERY === 0) one.stream.heartbeat();
    if (clock.monotonicMs() >= one.endsAtMs) one.stream.end();
    else if (one.seconds % CHECK_EVERY === 0) void endIfDenied(one);
  }

  return {
    open,
    second: () => open.forEach(second),
    admit(viewer: Viewer): LiveStream {
      const own = [...open].filter((one) => one.viewer.environment === viewer.environment).length;
      if (isEnded) throw new Rejected('unavailable', 'This process is stopping. Retry the request.');
      if (own >= limits.streamsShareMax || open.size >= limits.streamsMax) throw tooMany(limits);
      const stream = createLiveStream(viewer);
      const one = { viewer, stream, endsAtMs: clock.monotonicMs() + viewer.forMs, seconds: 0 };
      open.add(one);
      stream.body.once('close', () => {
        open.delete(one);
        if (open.size === 0) onEmpty();
      });
      return stream;
    },
    end() {
      isEnded = true;
      for (const { stream } of open) stream.end();
    },
  };
}

/** While a store is unavailable, it stays as it was. */
async function endIfDenied({ viewer, stream }: Open): Promise<void> {
  const isAllowed = await viewer.isAllowed().catch(() => true);
  if (!isAllowed) stream.end();
}

function tooMany({ streamsShareMax }: LiveLimits): Rejected {
  const message = `Too many live streams are open; an environment may have ${streamsShareMax}. Close one.`;
  return new Rejected('rate_limited', message);
}
