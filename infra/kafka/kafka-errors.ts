import { Fatal, Transient } from '../../schemas/failures.ts';

/** What kafkajs' errors say, whatever they are wrapped in. */
interface KafkaFailure {
  name?: string;
  /** Of an answer of the broker: its error code in words. */
  type?: string;
  message?: string;
  cause?: unknown;
  originalError?: unknown;
}

/** The error itself and everything that it wraps. */
function chainOf(error: unknown): KafkaFailure[] {
  const chain: KafkaFailure[] = [];
  for (let one = error; one instanceof Error && chain.length < 5; ) {
    const failure: KafkaFailure = one;
    chain.push(failure);
    one = failure.cause !== one && failure.cause ? failure.cause : failure.originalError;
  }
  return chain;
}

/** The broker's own word for it; undefined when it did not answer. */
export function typeOf(error: unknown): string | undefined {
  return chainOf(error).find(({ type }) => type !== undefined)?.type;
}

/**
 * The broker has refused the whole request before it wrote a byte. Everything else may have been written.
 * NOT_ENOUGH_REPLICAS_AFTER_APPEND and REQUEST_TIMED_OUT are not among them: the leader has the record.
 */
const NOT_WRITTEN = new Set([
  ...['NOT_LEADER_FOR_PARTITION', 'UNKNOWN_TOPIC_OR_PARTITION', 'LEADER_NOT_AVAILABLE'],
  ...['NOT_ENOUGH_REPLICAS', 'MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE', 'INVALID_TIMESTAMP'],
  ...['TOPIC_AUTHORIZATION_FAILED', 'CLUSTER_AUTHORIZATION_FAILED', 'INVALID_TOPIC_EXCEPTION'],
  ...['INVALID_REQUIRED_ACKS', 'UNSUPPORTED_VERSION', 'POLICY_VIOLATION'],
]);

export function wasNotWritten(error: unknown): boolean {
  return NOT_WRITTEN.has(typeOf(error) ?? '');
}

/** What no waiting mends: the operator has to. */
function isRefusedForGood(error: unknown): boolean {
  const chain = chainOf(error);
  return chain.some(
    ({ name = '', type = '', message = '' }) =>
      name.startsWith('KafkaJSSASL') ||
      /SASL|AUTHORIZATION_FAILED|UNSUPPORTED_VERSION/.test(type) ||
      name === 'KafkaJSServerDoesNotSupportApiKey' ||
      /self.signed|certificate|wrong version number|does not support/i.test(message),
  );
}

export function unavailable(what: string, cause: unknown): Transient {
  return new Transient('kafka_unavailable', `Kafka ${what}.`, { cause });
}

/**
 * At a start: a fault of the configuration ends the process with one message, anything else is waited for.
 */
export function startFailure(brokers: string[], cause: unknown): Fatal | Transient {
  if (cause instanceof Fatal || cause instanceof Transient) return cause;
  const said = chainOf(cause).at(-1)?.message ?? String(cause);
  if (isRefusedForGood(cause)) {
    return new Fatal('bad_configuration', `KAFKA_BROKERS ${brokers.join(',')} refuses us: ${said}`, {
      cause,
    });
  }
  return unavailable(`at ${brokers.join(',')} cannot be asked (${said})`, cause);
}
