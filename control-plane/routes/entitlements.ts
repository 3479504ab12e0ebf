import { shownEffectiveValue } from '../../domain/rules/decide-entitlement.ts';
import { Defect } from '../../schemas/failures.ts';
import { exactNumber, faultyText, parseExact } from '../../schemas/primitives/exact-json.ts';
import { type Entitlement, EntitlementChecks } from '../../schemas/resources/entitlements.ts';
import type { CustomerGrantsReads } from '../entitlements/cache/customer-grants-reads.ts';
import type { CachedChecks } from '../entitlements/check/cached-checks.ts';
import type { CachedResponses } from '../entitlements/check/check-fast-path.ts';
import { type ListedEntitlement, listEntitlements } from '../entitlements/check/list-entitlements.ts';
import { checkOf } from '../http/json-schema.ts';
import { PrintedJson } from '../http/printed-json.ts';
import type { Handlers } from '../http/request-context.ts';
import { unknownFields } from '../http/unknown-fields.ts';
import { readDecimal } from '../input/read-decimal.ts';
import { customerNotFound } from '../usage/customer-meter.ts';

/** But for the feed (entitlement-feed.ts) and what uses something (consume.ts). */
type EntitlementOperation = Exclude<
  Extract<keyof Handlers, `entitlements.${string}`>,
  'entitlements.feed' | 'entitlements.consume'
>;
type EntitlementHandlers = Pick<Handlers, EntitlementOperation>;

export interface EntitlementHandlerDeps {
  customerGrantsReads: CustomerGrantsReads;
  checks: CachedChecks;
}

export function createEntitlementHandlers({
  customerGrantsReads,
  checks,
}: EntitlementHandlerDeps): EntitlementHandlers {
  return {
    'entitlements.list': async (context, { params }) => {
      const entitlements = await listEntitlements(context, customerGrantsReads, params.customerId);
      if (!entitlements) throw customerNotFound(params.customerId);
      return entitlements.map(shown);
    },

    'entitlements.check': async (context, { params, query }) => {
      const { customerId: customer, featureKey } = params;
      const requested =
        query.requested === undefined ? undefined : readDecimal(exactNumber(query.requested), 'requested');
      const { consistency } = query;
      const features = [{ featureKey, requested }];
      const [decision] = await checks.decide(context, { customer, features, consistency });
      if (decision === undefined) throw new Defect('a check has no decision');
      return new PrintedJson(decision);
    },

    'entitlements.checkMany': async (context, { query, bodyText }) => {
      const { consistency } = query;
      return new PrintedJson(listed(await checks.decide(context, { ...questionsIn(bodyText), consistency })));
    },
  };
}

function shown({ featureKey, type, value, resets, ...from }: ListedEntitlement): Entitlement {
  const { sources, contributions } = from;
  const more = { ...(resets ? { resets } : {}), ...(contributions ? { contributions } : {}) };
  return { featureKey, type, effectiveValue: shownEffectiveValue(value), ...more, sources };
}

/** Exact to the last digit. Throws Rejected `value_invalid`. */
function questionsIn(bodyText: string) {
  const { customerId: customer, features } = parseExact(bodyText) as EntitlementChecks;
  const requestedFeatures = features.map(({ featureKey, requested }, at) => ({
    featureKey,
    requested: requested === undefined ? undefined : readDecimal(requested, `features.${at}.requested`),
  }));
  return { customer, features: requestedFeatures };
}

function listed(decisions: string[]): string {
  return `{"data":[${decisions.join(',')}]}`;
}

/** From the cache. Invalid requests are left to the handlers, which report the error. */
export function cachedEntitlementResponses({ now, allNow }: CachedChecks): CachedResponses {
  const check = checkOf(EntitlementChecks);

  function soundQuestions(bodyText: string): ReturnType<typeof questionsIn> | undefined {
    try {
      const body: unknown = JSON.parse(bodyText);
      check(body);
      if (faultyText(body) !== undefined || unknownFields(EntitlementChecks, body).length > 0)
        return undefined;
      return questionsIn(bodyText);
    } catch {
      return undefined;
    }
  }

  return {
    'entitlements.check': (context, { params: { customerId: customer = '', featureKey = '' } }) =>
      now(context, { customer, featureKey, requested: undefined }),
    'entitlements.checkMany': (context, { bodyText }) => {
      const questions = soundQuestions(bodyText);
      const decisions = questions && allNow(context, questions);
      return decisions && listed(decisions);
    },
  };
}
