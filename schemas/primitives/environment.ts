/** The tenant key of every row, frame, cache and idempotency key: one workspace in one mode. */
export type Mode = 'live' | 'test';

/** `ws_<26>:live` or `ws_<26>:test`. */
export type Environment = string;

export function environmentOf(workspaceId: string, mode: Mode): Environment {
  return `${workspaceId}:${mode}`;
}

/** The one of the same workspace in its other mode. */
export function otherModeOf(environment: Environment): Environment {
  const { workspaceId, mode } = splitEnvironment(environment);
  return environmentOf(workspaceId, mode === 'live' ? 'test' : 'live');
}

export function splitEnvironment(environment: Environment): { workspaceId: string; mode: Mode } {
  const colon = environment.lastIndexOf(':');
  return {
    workspaceId: environment.slice(0, colon),
    mode: environment.slice(colon + 1) === 'test' ? 'test' : 'live',
  };
}
