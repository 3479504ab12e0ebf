import { seal } from '../../domain/secrets.ts';
import { Rejected } from '../../schemas/failures.ts';
import type { ProcessorAction, ProcessorConnection } from '../../schemas/resources/integrations.ts';
import { API_BASE } from '../../schemas/route.ts';
import { recordChange } from '../changes/record-change.ts';
import type { Handlers, RequestContext } from '../http/request-context.ts';
import { webhookSecretContext } from '../processor/webhook-secret.ts';
import {
  findConnection,
  lockConnection,
  type ProcessorConnectionRow,
  updateConnection,
} from '../store/processor-connections.ts';

type IntegrationOperation = 'connectProcessor' | 'processor.retrieve' | 'integrations.legacyWebhooks';

export function createIntegrationHandlers({
  sealingKey,
}: {
  sealingKey: Buffer;
}): Pick<Handlers, IntegrationOperation> {
  return {
    connectProcessor: async (context, { body }) => {
      const { db, environment, nowMs } = context;
      checkAction(body);
      const now = new Date(nowMs);
      const row = (await lockConnection(db, environment, now)) ?? NOT_CONNECTED;
      const next = { ...row, ...connectionAfter(body, { environment, sealingKey }) };
      if (isEmpty(row) && isEmpty(next)) return { ok: true };
      await updateConnection(db, environment, { ...next, updatedAt: now });
      await recordAction(context, { action: body.action, before: shown(row), after: shown(next) });
      return { ok: true };
    },

    'processor.retrieve': async ({ db, environment }) =>
      shown((await findConnection(db, environment)) ?? NOT_CONNECTED),

    'integrations.legacyWebhooks': () => {
      throw new Rejected(
        'endpoint_removed',
        `This operation was removed on 2026-09-30. Use ${REPLACEMENT}.`,
        {
          details: { replacement: REPLACEMENT },
        },
      );
    },
  };
}

const REPLACEMENT = `GET ${API_BASE}/webhooks/endpoints`;

const NOT_CONNECTED: ProcessorConnectionRow = { apiKey: null, apiKeyLast4: null, webhookSecret: null };

function checkAction({ action, apiKey, secret }: ProcessorAction): void {
  if (action === 'connect' && apiKey === undefined) throw missing('apiKey', action);
  if (action === 'set_webhook_secret' && secret === undefined) throw missing('secret', action);
}

function missing(param: string, action: string): Rejected {
  return new Rejected('invalid_request', `\`${param}\` is required for ${action}.`, { param });
}

/** The fields that the action changes; sealed for this environment alone. */
function connectionAfter(
  { action, apiKey, secret }: ProcessorAction,
  { environment, sealingKey }: { environment: string; sealingKey: Buffer },
): Partial<ProcessorConnectionRow> {
  if (action === 'disconnect') return NOT_CONNECTED;
  const webhookSecret =
    secret === undefined
      ? {}
      : { webhookSecret: seal(Buffer.from(secret), sealingKey, webhookSecretContext(environment)) };
  if (action === 'set_webhook_secret' || apiKey === undefined) return webhookSecret;
  const sealed = seal(Buffer.from(apiKey), sealingKey, `${environment}/processor-api-key`);
  return { ...webhookSecret, apiKey: sealed, apiKeyLast4: apiKey.slice(-4) };
}

function isEmpty({ apiKey, webhookSecret }: ProcessorConnectionRow): boolean {
  return apiKey === null && webhookSecret === null;
}

function shown({ apiKey, apiKeyLast4, webhookSecret }: ProcessorConnectionRow): ProcessorConnection {
  return {
    connected: apiKey !== null,
    ...(apiKeyLast4 === null ? {} : { keyLast4: apiKeyLast4 }),
    webhookSecretSet: webhookSecret !== null,
  };
}

/** The audit entry includes `action`: a secret replaced by another looks the same before and after. */
async function recordAction(
  context: RequestContext,
  { action, before, after }: { action: string; before: ProcessorConnection; after: ProcessorConnection },
): Promise<void> {
  await recordChange(context, { objectId: 'processor', before, after: { ...after, action } });
}
