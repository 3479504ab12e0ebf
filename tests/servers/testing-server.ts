/**
 * A real store for tests, in a process or container of its own, that may be hurt. Its address stays the same
 * through kills and restarts. Every method is bounded in time and rejects when the time is over.
 */
export interface TestingServer {
  /** Kafka: `host:port`. Redis: `redis://host:port`. */
  readonly url: string;
  /** SIGKILL. Resolves when it is gone; what it had written stays. */
  kill(): Promise<void>;
  /** SIGSTOP: connections stay and are accepted, and no response comes. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Kills what still runs and starts it again on the same data, or on none. Resolves when it responds. */
  restart(how?: { wiped?: boolean }): Promise<void>;
  /** Ends it and takes its data away. */
  stop(): Promise<void>;
}

export interface TestingServerOptions {
  /** On top of our own, in the words of the server's own configuration file. */
  settings?: Record<string, string>;
  /** Who may come: without it everyone. Kafka: SASL PLAIN and SCRAM. Redis: the password alone. */
  login?: { username: string; password: string };
  /** PEM. Kafka alone, where it has a login: that comes over TLS then. */
  tls?: { certificate: string; key: string };
}
