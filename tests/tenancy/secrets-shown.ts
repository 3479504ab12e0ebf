import type { OperationId } from '../../schemas/routes.ts';
import type { TenancyScenario } from './tenancy-scenario.ts';
import { readEveryRow } from './tenant-rows.ts';
import type { WatchedResponse } from './watched-client.ts';

/** The only responses that contain a secret: one that the operation itself created. */
const SHOW: Partial<Record<OperationId, 'key' | 'secret' | 'token'>> = {
  'apiKeys.create': 'key',
  'apiKeys.rotate': 'key',
  'customerTokens.create': 'token',
  createWebhookEndpoint: 'secret',
  'webhookEndpoints.rotateSecret': 'secret',
};

/** Everything in a scenario that is secret, as it is created. */
export function secretsOf({ secrets, alpha, beta, client }: TenancyScenario): string[] {
  const first = [alpha, beta].flatMap(({ live, test }) => [...Object.values(live), ...Object.values(test)]);
  const shown = client.responses.flatMap((response) => shownSecret(response) ?? []);
  return [...new Set([...secrets, ...first, ...shown])];
}

export interface Sought {
  secrets: string[];
  /** A text that was sent where no secret belongs: data where it was taken, no part of logs and errors. */
  misplaced: string;
  /** Those of an operator. */
  pages: string;
}

/** Where secrets turn up that no response may show, in words. */
export async function findSecrets(scenario: TenancyScenario, sought: Sought): Promise<string[]> {
  const { secrets, misplaced, pages } = sought;
  const shared = {
    'a log or stdout': scenario.instance.written(),
    "Postgres' log": scenario.postgresLog(),
    'a page': pages,
  };
  const rows = await readEveryRow(scenario.pool);
  return [
    ...[...secrets, misplaced].flatMap((secret) => placesOf(secret, shared)),
    ...secrets.flatMap((secret) => placesOf(secret, { 'a row of Postgres': rows })),
    ...scenario.client.responses.flatMap((response) => notifiedIn(response, secrets)),
    ...scenario.client.responses
      .filter(({ status }) => status >= 400)
      .flatMap((response) => notifiedIn(response, [misplaced])),
  ];
}

function placesOf(secret: string, texts: Record<string, string>): string[] {
  const found = Object.keys(texts).filter((place) => holds(texts[place] ?? '', secret));
  return found.map((place) => `${place} holds ${begin(secret)}`);
}

function notifiedIn(response: WatchedResponse, secrets: string[]): string[] {
  const own = shownSecret(response);
  const text = response.headers + response.text;
  const foreign = secrets.filter((secret) => secret !== own && text.includes(secret));
  return foreign.map((secret) => `${response.operationId} returned ${response.status} with ${begin(secret)}`);
}

function shownSecret({ operationId, status, text }: WatchedResponse): string | undefined {
  const field = SHOW[operationId];
  if (field === undefined || status >= 300) return undefined;
  return (JSON.parse(text) as Record<string, string>)[field];
}

/** Rows show bytes as hex. */
function holds(text: string, secret: string): boolean {
  return text.includes(secret) || text.includes(Buffer.from(secret).toString('hex'));
}

/** Enough to know it by, for the message of a failed test. */
function begin(secret: string): string {
  return `${secret.slice(0, 12)}…`;
}
