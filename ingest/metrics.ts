import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { UsageRequest } from '../infra/ports/engine.ts';
import type { ErrorCode } from '../schemas/error-codes.ts';

/** What the data plane counts. Plain functions, so that the path names no metric. */
export interface UsageMetrics {
  responded(kind: UsageRequest['kind'], status: number, createdEvents: number): void;
  /** A request of events in other formats. */
  eventsCreated(count: number): void;
  eventsCounted(response: { status: number; unmetered: number }): void;
  rejected(code: ErrorCode): void;
  frame(seconds: number, eventCount: number): void;
}

export interface UsageGauges {
  inFlightBytes(): number;
  /** Left out where the keys are not this process's own. */
  keys?(): number;
}

export function createUsageMetrics(registry: Registry, gauges: UsageGauges): UsageMetrics {
  const registers = [registry];
  const requests = countRequests(registry);
  const events = countEvents(registry);
  const unmetered = new Counter({
    name: 'metergate_unmetered_events_total',
    help: 'Events of other formats that no meter counts. They are acknowledged and not kept.',
    registers,
  });
  const rejections = new Counter({
    name: 'metergate_usage_refusals_total',
    help: 'Usage requests rejected as a whole, by error code.',
    labelNames: ['code'],
    registers,
  });
  const appends = new Histogram({
    name: 'metergate_log_append_seconds',
    help: 'Time to write one frame durably to the log, in seconds.',
    buckets: [0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.05, 0.2, 1],
    registers,
  });
  const frameEvents = new Histogram({
    name: 'metergate_log_frame_events',
    help: 'Events in one frame of the log.',
    buckets: [1, 10, 100, 500, 1000, 2500, 5000, 10000],
    registers,
  });
  const gauge = gaugesOf(registry);
  gauge(
    'metergate_usage_in_flight_bytes',
    'Bodies of usage requests in progress, in bytes.',
    gauges.inFlightBytes,
  );
  if (gauges.keys) gauge('metergate_idempotency_keys', 'Idempotency keys in the key table.', gauges.keys);

  return {
    responded(kind, status, createdEvents) {
      requests(kind, status);
      events(createdEvents);
    },
    eventsCreated: (count) => events(count),
    eventsCounted(response) {
      requests('events', response.status);
      unmetered.inc(response.unmetered);
    },
    rejected: (code) => rejections.inc({ code }),
    frame(seconds, eventCount) {
      appends.observe(seconds);
      frameEvents.observe(eventCount);
    },
  };
}

type RequestKind = UsageRequest['kind'] | 'events';

/** Counted in plain numbers until a scrape: with labels each count would cost a microsecond. */
function countRequests(registry: Registry): (kind: RequestKind, status: number) => void {
  const counts: Record<RequestKind, Map<number, number>> = {
    single: new Map<number, number>(),
    batch: new Map<number, number>(),
    ndjson: new Map<number, number>(),
    events: new Map<number, number>(),
  };
  new Counter({
    name: 'metergate_usage_requests_total',
    help: 'Usage requests completed, by kind and HTTP status.',
    labelNames: ['kind', 'status'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [kind, byStatus] of Object.entries(counts)) {
        for (const [status, count] of byStatus) this.inc({ kind, status }, count);
      }
    },
  });
  return (kind, status) => void counts[kind].set(status, (counts[kind].get(status) ?? 0) + 1);
}

/** The same, for the same reason. */
function countEvents(registry: Registry): (created: number) => void {
  let count = 0;
  new Counter({
    name: 'metergate_usage_events_created_total',
    help: 'Usage events written durably and acknowledged as created.',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(count);
    },
  });
  return (created) => {
    count += created;
  };
}

/** What is forwarded to the control plane. */
export interface ForwardMetrics {
  rejected(code: ErrorCode): void;
  gauges(read: { underWay(): number; streams(): number; heldBytes(): number }): void;
}

export function createForwardMetrics(registry: Registry): ForwardMetrics {
  const rejections = new Counter({
    name: 'metergate_forward_refusals_total',
    help: 'Requests that the data plane rejected instead of forwarding to the control plane, by error code.',
    labelNames: ['code'],
    registers: [registry],
  });
  const gauge = gaugesOf(registry);
  return {
    rejected: (code) => rejections.inc({ code }),
    gauges({ underWay, streams, heldBytes }) {
      gauge('metergate_forward_requests', 'Requests being forwarded to the control plane.', underWay);
      gauge('metergate_forward_streams', 'Responses that go on, such as feeds of entitlements.', streams);
      gauge(
        'metergate_forward_body_bytes',
        'Memory held by bodies of forwarded requests, in bytes.',
        heldBytes,
      );
    },
  };
}

/** Size of the kept log: segments that were given up are before its start. */
export function countLog(registry: Registry, log: { extent(): { start: number; end: number } }): void {
  const gauge = gaugesOf(registry);
  gauge(
    'metergate_log_start_position',
    'First position that the log still keeps, in bytes.',
    () => log.extent().start,
  );
  gauge('metergate_log_end_position', 'Durable end of the log, in bytes.', () => log.extent().end);
  gauge('metergate_log_bytes', 'Size of the log that is kept, in bytes.', () => {
    const { start, end } = log.extent();
    return end - start;
  });
}

function gaugesOf(registry: Registry) {
  return (name: string, help: string, read: () => number) => {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read());
      },
    });
  };
}
