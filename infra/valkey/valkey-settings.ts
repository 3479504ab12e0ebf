/** How the distributed key store is reached, and how long it keeps a key. */
export interface ValkeySettings {
  /** `redis://` or `rediss://`, with user and password where they are needed. */
  url: string;
  hotWindowMs: number;
}
