import type { Logger } from 'pino';
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
      return (await loading)(context, input);
    },
  };
}
