import { type OperationId, ROUTES } from '../../schemas/routes.ts';
import type { TenancyScenario, TenantName } from './tenancy-scenario.ts';
import type { TenantRequest } from './tenant-requests.ts';
import type { WatchedResponse } from './watched-client.ts';

export interface NewKey {
  id: string;
  key: string;
}

/** A further key of alpha's live environment. */
export async function newKey(
  scenario: TenancyScenario,
  body: object = { kind: 'secret', scopes: ['*'] },
): Promise<NewKey> {
  const response = await ask(scenario, 'apiKeys.create', scenario.alpha.live.secret, { body });
  if (response.status !== 201) throw new Error(`no key was made: ${response.status} ${response.text}`);
  return JSON.parse(response.text) as NewKey;
}

/** For a customer of this tenant. */
export async function customerToken(scenario: TenancyScenario, name: TenantName): Promise<string> {
  const { key, objects } = scenario.tenants[name];
  const body = { customerId: objects.customerId };
  const response = await ask(scenario, 'customerTokens.create', key, { body });
  if (response.status !== 201) throw new Error(`no token was made: ${response.status} ${response.text}`);
  return (JSON.parse(response.text) as { token: string }).token;
}

/** One operation, whose path may name a key of ours. */
export function ask(
  { client }: TenancyScenario,
  operationId: OperationId,
  key: string,
  { keyId = '', body }: { keyId?: string; body?: object | undefined } = {},
): Promise<WatchedResponse> {
  const route = ROUTES[operationId];
  return client.ask({ operationId, route, path: route.path.replace('{keyId}', keyId), body }, key);
}

export interface Judgement<Request extends TenantRequest> {
  keyOf: (request: Request) => string | undefined;
  isRight: (response: WatchedResponse, request: Request) => boolean;
}

/**
 * Sends them all at once. What is wrong with the responses, in words; empty while each is as it should be.
 */
export async function faults<Request extends TenantRequest>(
  { client }: TenancyScenario,
  requests: readonly Request[],
  { keyOf, isRight }: Judgement<Request>,
): Promise<string[]> {
  const judged = requests.map(async (request) => {
    const response = await client.ask(request, keyOf(request));
    const { status, code = '', text } = response;
    return isRight(response, request)
      ? []
      : [`${request.operationId}: ${status} ${code} ${text.slice(0, 200)}`];
  });
  return (await Promise.all(judged)).flat();
}
