import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from 'pino';
import { beginExactJson } from '../../schemas/primitives/exact-json.ts';
import { PrintedJson } from '../http/printed-json.ts';
import type { Handlers } from '../http/request-context.ts';
import type { GraphqlDeps, RestHandlers } from './read-context.ts';

interface WithGraphql<Given> {
  handlers: Given & Pick<Handlers, 'graphql.query'>;
  /** Before the first query, which waits for it otherwise. */
  load(): Promise<unknown>;
}

/**
 * The handlers with that of `POST /graphql`, which reads by them. Its modules would take longer to load than
 * all others of a start.
 */
export function withGraphql<Given extends RestHandlers>(
  deps: Omit<GraphqlDeps, 'handlers'> & { log: Logger },
  handlers: Given,
): WithGraphql<Given> {
  let loading: Promise<Handlers['graphql.query']> | undefined;
  const load = () => {
    loading ??= loadGraphql().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
  async function loadGraphql(): Promise<Handlers['graphql.query']> {
    const { createGraphql } = await import('./graphql.ts');
    return createGraphql({ ...deps, handlers });
  }

  return {
    handlers: {
      ...handlers,
      'graphql.query': async (context, input) => printInTurns(await (await load())(context, input)),
    },
    load,
  };
}

/** A millisecond or two of work. */
const VALUES_OF_TURN = 2_000;

/** The largest response has half a million values: others are served while it is printed. */
async function printInTurns(response: unknown): Promise<PrintedJson> {
  const print = beginExactJson(response);
  let text = print(VALUES_OF_TURN);
  while (text === undefined) {
    await nextTurn();
    text = print(VALUES_OF_TURN);
  }
  return new PrintedJson(text);
}
