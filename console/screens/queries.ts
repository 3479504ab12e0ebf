/**
 * What the console reads by GraphQL: screens that show objects of several kinds. A screen of one object that
 * can be changed reads it by REST, with the ETag that a change needs.
 */
import type { GraphqlQuery } from '../api/graphql.ts';
import type { Listed } from '../api/wire.ts';

type Audited = Listed<'auditLog.list'>;
type Total = { totalCount: number | null };

export interface EndpointSummary {
  id: string;
  url: string;
  events: string[];
  status: 'enabled' | 'disabled';
  disabledReason: 'gone' | 'failing' | null;
  createdAt: string;
  retrying: Total | null;
  undelivered: Total | null;
}

const ENDPOINTS = `webhookEndpoints {
    id url events status disabledReason createdAt
    retrying: deliveries(first: 1, status: retrying) { totalCount }
    undelivered: deliveries(first: 1, status: undelivered) { totalCount }
  }`;

export const OVERVIEW: GraphqlQuery<{
  customers: Total | null;
  active: Total | null;
  trialing: Total | null;
  late: Total | null;
  webhookEndpoints: EndpointSummary[] | null;
  auditLog: { nodes: Audited[] } | null;
}> = {
  document: `query Overview {
  customers(first: 1) { totalCount }
  active: subscriptions(first: 1, status: active) { totalCount }
  trialing: subscriptions(first: 1, status: trialing) { totalCount }
  late: subscriptions(first: 1, status: past_due) { totalCount }
  ${ENDPOINTS}
  auditLog(first: 8) { nodes { action actor objectId createdAt before after } }
}`,
};

export const WEBHOOK_ENDPOINTS: GraphqlQuery<{ webhookEndpoints: EndpointSummary[] | null }> = {
  document: `query WebhookEndpoints {
  ${ENDPOINTS}
}`,
};

export interface CustomerSummary {
  id: string;
  name: string;
  email: string;
  externalId: string | null;
  status: 'active' | 'archived';
  createdAt: string;
  subscriptions: { nodes: Array<{ id: string; planName: string; status: string }> } | null;
}

export interface CustomersPage {
  totalCount: number | null;
  pageInfo: { hasNextPage: boolean; endCursor: string | null };
  nodes: CustomerSummary[];
}

export const CUSTOMERS: GraphqlQuery<
  { customers: CustomersPage | null },
  { q: string | null; after: string | null }
> = {
  document: `query Customers($q: String, $after: String) {
  customers(first: 25, q: $q, after: $after) {
    totalCount
    pageInfo { hasNextPage endCursor }
    nodes {
      id name email externalId status createdAt
      subscriptions(first: 3) { nodes { id planName status } }
    }
  }
}`,
};

export interface SubscriptionSummary {
  id: string;
  customerId: string;
  customer: { name: string } | null;
  planName: string;
  status: string;
  currentPeriodStart: string;
  currentPeriodEnd: string;
}

export const SUBSCRIPTIONS: GraphqlQuery<
  { subscriptions: (Omit<CustomersPage, 'nodes'> & { nodes: SubscriptionSummary[] }) | null },
  { status: string; after: string | null }
> = {
  document: `query Subscriptions($status: SubscriptionStatus!, $after: String) {
  subscriptions(first: 25, status: $status, after: $after) {
    totalCount
    pageInfo { hasNextPage endCursor }
    nodes { id customerId customer { name } planName status currentPeriodStart currentPeriodEnd }
  }
}`,
};

type Names = Record<string, { id: string; name: string } | null>;

/** A query for the names of so many customers. */
export function namesQuery(customers: number): GraphqlQuery<Names, Record<string, string>> {
  const places = Array.from({ length: customers }, (_, at) => at);
  const variables = places.map((at) => `$id${at}: ID!`).join(', ');
  const fields = places.map((at) => `  n${at}: customer(id: $id${at}) { id name }`).join('\n');
  return { document: `query Names(${variables}) {\n${fields}\n}` };
}
