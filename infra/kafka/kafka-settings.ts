/** How Kafka is reached and what its topic has to be. */
export interface KafkaSettings {
  /** `host:port`, at least one. */
  brokers: string[];
  topic: string;
  /** Fixed when the topic is first used: events find their partition by it. */
  partitions: number;
  /** At least so many copies, and so many of them in step before a write is acknowledged. */
  replication: number;
  minIsr: number;
  /** Make the topic where it is missing. */
  autoCreate: boolean;
  tls: boolean;
  sasl?: KafkaLogin;
}

export interface KafkaLogin {
  mechanism: (typeof SASL_MECHANISMS)[number];
  username: string;
  password: string;
}

export const SASL_MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;
