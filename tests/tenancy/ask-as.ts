import { type OperationId, ROUTES } from '../../schemas/routes.ts';
import type { TenancyScene } from './tenancy-scene.ts';
import type { TenantRequest } from './tenant-requests.ts';
import type { WatchedAnswer } from './watched-client.ts';

export interface NewKey {
  id: string;
  key: string;
}

/** A further key of alpha's live environment. */
export async function newKey(
  scene: TenancyScene,
  body: object = { kind: 'secret', scopes: ['*'] },
): Promise<NewKey> {
  const answer = await ask(scene, 'apiKeys.create', scene.alpha.live.secret, { body });
  if (answer.status !== 201) throw new Error(`no key was made: ${answer.status} ${answer.text}`);
  return JSON.parse(answer.text) as NewKey;
}

/** One operation, whose path may name a key of ours. */
export function ask(
  { client }: TenancyScene,
  operationId: OperationId,
  key: string,
  { keyId = '', body }: { keyId?: string; body?: object | undefined } = {},
): Promise<WatchedAnswer> {
  const route = ROUTES[operationId];
  return client.ask({ operationId, route, path: route.path.replace('{keyId}', keyId), body }, key);
}

export interface Judgement<Request extends TenantRequest> {
  keyOf: (request: Request) => string | undefined;
  isRight: (answer: WatchedAnswer, request: Request) => boolean;
}

/** Asks them all at once. What is wrong with the answers, in words; nothing while each is as it should be. */
export async function faults<Request extends TenantRequest>(
  { client }: TenancyScene,
  requests: readonly Request[],
  { keyOf, isRight }: Judgement<Request>,
): Promise<string[]> {
  const judged = requests.map(async (request) => {
    const answer = await client.ask(request, keyOf(request));
    const { status, code = '', text } = answer;
    return isRight(answer, request)
      ? []
      : [`${request.operationId}: ${status} ${code} ${text.slice(0, 200)}`];
  });
  return (await Promise.all(judged)).flat();
}
