import { Fatal, Transient } from '../../schemas/failures.ts';
import { NO_TLS, WRONG_CERTIFICATE, WRONG_LOGIN } from '../platform/wait-until-available.ts';

/** What kafkajs' errors mean, whatever they are wrapped in. */
interface KafkaFailure {
  name?: string;
  /** Of a response of the broker: its error code in words. */
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

/** The broker's own name of the error; undefined when it did not respond. */
export function typeOf(error: unknown): string | undefined {
  return chainOf(error).find(({ type }) => type !== undefined)?.type;
}

/**
 * The broker has rejected the whole request before it wrote a byte. With any other error the record may have
 * been written. NOT_ENOUGH_REPLICAS_AFTER_APPEND and REQUEST_TIMED_OUT are not among them: the leader has the
 * record. Nor are the errors of a broker that is no longer the leader or does not know the partition: with
 * `acks=all` a broker also sends them for a record it has written, when it loses the partition while it waits
 * for others (DelayedProduce).
 */
const NOT_WRITTEN = new Set([
  // mutant: lost-leader-believed
  ...['NOT_ENOUGH_REPLICAS', 'MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE', 'INVALID_TIMESTAMP'],
  ...['TOPIC_AUTHORIZATION_FAILED', 'CLUSTER_AUTHORIZATION_FAILED', 'INVALID_TOPIC_EXCEPTION'],
  ...['INVALID_REQUIRED_ACKS', 'UNSUPPORTED_VERSION', 'POLICY_VIOLATION'],
]);

export function wasNotWritten(error: unknown): boolean {
  return NOT_WRITTEN.has(typeOf(error) ?? '');
}

/** Errors that only the operator can fix, in words. The first that fits; undefined: it may be temporary. */
function rejectionOf(error: unknown): string | undefined {
  const chain = chainOf(error);
  const message = chain.at(-1)?.message ?? '';
  const [names, types, messages] = [
    chain.map(({ name }) => name).join(),
    chain.map(({ type }) => type).join(),
    chain.map(({ message }) => message).join('\n'),
  ];
  if (/self.signed|certificate|altname/i.test(messages)) return WRONG_CERTIFICATE;
  if (/wrong version number|packet length too long/i.test(messages)) return NO_TLS;
  if (/KafkaJSSASL/.test(names) || /SASL/.test(types)) return `${WRONG_LOGIN} ${message}`;
  if (/AUTHORIZATION_FAILED/.test(types)) return `does not let this user do what Metergate needs: ${message}`;
  const isOld = /UNSUPPORTED_VERSION/.test(types) || /KafkaJSServerDoesNotSupportApiKey/.test(names);
  return isOld || /does not support/i.test(messages)
    ? `cannot do what Metergate needs: ${message}`
    : undefined;
}

export function unavailable(what: string, cause: unknown): Transient {
  return new Transient('kafka_unavailable', `Kafka ${what}.`, { cause });
}

/**
 * At a start: a fault of the configuration ends the process with one message, anything else is waited for.
 */
export function startFailure(brokers: string[], cause: unknown): Fatal | Transient {
  if (cause instanceof Fatal || cause instanceof Transient) return cause;
  const address = brokers.join(',');
  const rejection = rejectionOf(cause);
  if (rejection !== undefined) {
    const message = `Bad configuration: KAFKA_BROKERS: ${address} ${rejection}`;
    return new Fatal('bad_configuration', message, { cause });
  }
  const message = chainOf(cause).at(-1)?.message ?? String(cause);
  return unavailable(`at ${address} cannot be queried (${message})`, cause);
}
