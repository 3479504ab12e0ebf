import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from 'pino';
import { beginExactJson } from '../../schemas/primitives/exact-json.ts';
import { PrintedJson } from '../http/printed-json.ts';
import type { Handlers } from '../http/request-context.ts';
import type { GraphqlDeps, RestHandlers } from './read-context.ts';

/**
 * The handlers with that of `POST /graphql`, which reads by them. Its modules are loaded with the first
 * query: they would take longer than all others of a start.
 */
export function withGraphql<Given extends RestHandlers>(
  deps: Omit<GraphqlDeps, 'handlers'> & { log: Logger },
  handlers: Given,
): Given & Pick<Handlers, 'graphql.query'> {
  let loading: Promise<Handlers['graphql.query']> | undefined;
  async function load(): Promise<Handlers['graphql.query']> {
    const { createGraphql } = await import('./graphql.ts');
    return createGraphql({ ...deps, handlers });
  }

  return {
    ...handlers,
    'graphql.query': async (context, input) => {
      loading ??= load();
      return printInTurns(await (await loading)(context, input));
    },
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
