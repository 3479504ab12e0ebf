import type { DocumentNode, ExecutionResult } from 'graphql';
import { createLRUCache, createYoga, type Plugin, useExecutionCancellation } from 'graphql-yoga';
import type { Logger } from 'pino';
import { throwTransient } from '../../infra/postgres/unavailable.ts';
import { Rejected } from '../../schemas/failures.ts';
import type { GraphqlRequest, GraphqlResponse } from '../../schemas/resources/graphql.ts';
import type { Handlers } from '../http/request-context.ts';
import { createTenantSemaphore, type SemaphoreLimits } from '../http/tenant-semaphore.ts';
import { withinBounds } from './document-steps.ts';
import type { GraphqlContext } from './graphql-context.ts';
import { graphqlSchema } from './graphql-schema.ts';
import { createLoaders } from './loaders.ts';
import { createPacer } from './paced-entries.ts';
import { checkLimits } from './query-limits.ts';
import type { GraphqlDeps, ReadContext } from './read-context.ts';
import { createResponseBounds } from './response-bytes.ts';
import { asGraphqlError, shownError } from './shown-errors.ts';

/** For one request. */
const TIMEOUT_MS = 20_000;

/**
 * The pool has 20 connections. Queries leave 12 of them to other requests, and those of one environment half
 * of the 8 to others. A query of 500 fields waits in this line, and not in that of the pool.
 */
const TURNS: SemaphoreLimits = {
  underWayMax: 8,
  shareMax: 4,
  waitingMax: 8_000,
  waitingShareMax: 2_000,
  waitMs: TIMEOUT_MS,
};

/**
 * A response in the making takes up to some 60 MB of memory. The other queries wait, those of one environment
 * for its own first.
 */
const EXECUTIONS: SemaphoreLimits = {
  underWayMax: 12,
  shareMax: 4,
  waitingMax: 1_024,
  waitingShareMax: 512,
  waitMs: TIMEOUT_MS,
};

/** As much counts as one more request against the rate of the key. */
export const COST_OF_REQUEST = 1_000;

/** To parse and validate the longest query takes up to 0.15 s, a turn of its own (paced-entries.ts). */
const CHARS_OF_VALUE = 16;

/** Parsed and validated queries: those of a page are few, and the same again and again. */
const DOCUMENTS_KEPT = 100;
/** A longer one takes megabytes once it is parsed, and is parsed each time. */
const KEPT_CHARS_MAX = 4_096;

/** Serves `POST /graphql`: what the operations of the REST API read, as a graph. */
export function createGraphql(
  deps: GraphqlDeps & { log: Logger },
  timeoutMs = TIMEOUT_MS,
): Handlers['graphql.query'] {
  const yoga = createServer();
  const turns = createTenantSemaphore(TURNS, 'reads of GraphQL queries');
  const executions = createTenantSemaphore(EXECUTIONS, 'GraphQL queries');
  const newPace = createPacer();

  return async (requested, { body }) => {
    const stop = new AbortController();
    requested.onClientClosed(() => stop.abort(clientClosed()));
    // Drivers throw bare errors, as the executor does for a fault of ours: here it is known which is which.
    const inTurn: ReadContext['inTurn'] = (read) =>
      turns.run(requested.environment, read, stop.signal).catch(throwTransient);
    const { check, ...bounds } = createResponseBounds(stop);
    const reading = { ...requested, ...bounds, db: deps.pool, deps, inTurn, pace: newPace() };
    const context = { ...reading, loaders: createLoaders(reading) };
    const work = async () => {
      await context.pace.turn(body.query.length / CHARS_OF_VALUE);
      const response = await run(yoga, body, { context, log: deps.log, signal: stop.signal });
      check();
      return response;
    };
    const inPlace = () => executions.run(requested.environment, work, stop.signal);
    return inTime(stop, timeoutMs, inPlace).catch(asTooComplex);
  };
}

type Server = ReturnType<typeof createServer>;

/** Of graphql-yoga the execution alone: its HTTP part is the app's own, with keys, limits and errors. */
function createServer() {
  return createYoga<GraphqlContext>({
    schema: graphqlSchema(),
    graphiql: false,
    landingPage: false,
    logging: false,
    // The errors of all its steps are masked at the end.
    maskedErrors: false,
    parserAndValidationCache: {
      documentCache: createDocumentCache(),
      errorCache: { get: () => undefined, set: () => undefined },
    },
    plugins: [useExecutionCancellation(), withinBounds, withinLimits],
  });
}

function createDocumentCache() {
  const documents = createLRUCache<DocumentNode>({ max: DOCUMENTS_KEPT });
  return {
    get: (query: string) => documents.get(query),
    set(query: string, document: DocumentNode) {
      if (query.length <= KEPT_CHARS_MAX) documents.set(query, document);
    },
  };
}

const withinLimits: Plugin<GraphqlContext> = {
  onExecute({ args, setResultAndStopExecution }) {
    const { schema, document, operationName, variableValues: variables } = args;
    try {
      const { cost, errors } = checkLimits(schema, { document, operationName, variables });
      const { deps, ...caller } = args.contextValue;
      deps.chargeRequest(caller, Math.floor(cost / COST_OF_REQUEST));
      if (errors.length > 0) setResultAndStopExecution({ errors });
    } catch (error) {
      setResultAndStopExecution({ errors: [asGraphqlError(error)] });
    }
  },
};

async function run(
  yoga: Server,
  { query, operationName, variables }: GraphqlRequest,
  { context, log, signal }: { context: GraphqlContext; log: Logger; signal: AbortSignal },
): Promise<GraphqlResponse> {
  const params = { query, ...(operationName ? { operationName } : {}), ...(variables ? { variables } : {}) };
  const request = new Request('http://graphql.invalid/graphql', { method: 'POST', signal });
  const { data, errors } = (await yoga.getResultForParams(
    { params, request },
    context as never,
  )) as ExecutionResult;
  const { requestId } = context;
  let faults = 0;
  const onUnexpected = (err: unknown) => {
    faults += 1;
    if (faults === 1) log.error({ err, requestId }, 'a field of a query failed');
  };
  return {
    ...(data === undefined ? {} : { data }),
    ...(errors ? { errors: errors.map((error) => shownError(error, onUnexpected).toJSON()) } : {}),
  } as GraphqlResponse;
}

/**
 * Throws Rejected when it takes too long, or when the client has closed the connection. A read that has begun
 * by then is bounded by itself, and not waited for; none begins after that.
 */
async function inTime<T>(stop: AbortController, timeoutMs: number, work: () => Promise<T>): Promise<T> {
  const { signal } = stop;
  const stopped = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  const timer = setTimeout(() => stop.abort(tooSlow(timeoutMs)), timeoutMs);
  try {
    return await Promise.race([stopped, work()]);
  } finally {
    clearTimeout(timer);
  }
}

/** As the limits that are known before the execution. */
function asTooComplex(error: unknown): GraphqlResponse {
  if (!(error instanceof Rejected) || error.rejection.code !== 'query_too_complex') throw error;
  return { errors: [shownError(asGraphqlError(error), () => undefined).toJSON()] } as GraphqlResponse;
}

function clientClosed(): Rejected {
  return new Rejected('unavailable', 'The client closed the connection.');
}

function tooSlow(timeoutMs: number): Rejected {
  const message = `The query took longer than ${timeoutMs / 1000} s. Ask for less, or retry the request.`;
  return new Rejected('unavailable', message);
}
