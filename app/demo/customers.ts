/** The customers of the demo: what each has, and how much of it is used. */
import type { BodyOf } from './api-client.ts';
import type { MeterKey, PlanKey } from './catalogue.ts';

export const REGIONS = ['eu-west', 'us-east', 'ap-south'] as const;
export type Region = (typeof REGIONS)[number];

export interface DemoCustomer {
  name: string;
  /** The `externalId`. */
  slug: string;
  plan: PlanKey;
  interval: 'month' | 'year';
  /** How long the billing period, or the trial, has run. */
  periodDays: number;
  region: Region;
  /** Usage of the period so far, in limits of the plan. */
  used: Record<MeterKey, number>;
  story?: Story;
}

/** What is not as with most of them. */
interface Story {
  /** Days from now to the end of the trial. */
  trialDaysLeft?: number;
  becomes?: 'past_due' | 'paused' | 'canceled' | 'canceled_at_period_end';
  extraSeats?: number;
  credits?: Array<Pick<BodyOf<'credits.grant'>, 'amount' | 'reason'> & { expiresInDays?: number }>;
  override?: Pick<BodyOf<'overrides.put'>, 'value' | 'reason'> & {
    featureKey: string;
    expiresInDays?: number;
  };
  budget?: BodyOf<'budgets.put'> & { meterKey: MeterKey };
}

type Row = [
  name: string,
  slug: string,
  plan: PlanKey | `${PlanKey} yearly`,
  periodDays: number,
  region: Region,
  calls: number,
  tokens: number,
  story?: Story,
];

const ROWS: Row[] = [
  ['Aurora Analytics', 'aurora', 'business', 19, 'eu-west', 0.62, 0.71, { extraSeats: 15 }],
  ['Baltic Freight', 'baltic-freight', 'pro', 22, 'eu-west', 0.86, 0.44],
  ['Bluebird Travel', 'bluebird', 'pro', 11, 'us-east', 0.38, 0.52],
  ['Brightside Health', 'brightside', 'business yearly', 140, 'us-east', 0.11, 0.08],
  ['Cascade Robotics', 'cascade', 'pro', 25, 'us-east', 1.18, 0.63],
  ['Cedar & Sons', 'cedar', 'free', 20, 'eu-west', 0.55, 0.2],
  ['Copperfield Books', 'copperfield', 'free', 13, 'eu-west', 0.93, 0.41],
  ['Delta Ledger', 'delta-ledger', 'pro yearly', 75, 'us-east', 0.16, 0.12],
  ['Driftwood Studio', 'driftwood', 'free', 9, 'us-east', 0.3, 0.88],
  ['Ember Games', 'ember', 'pro', 16, 'ap-south', 0.58, 1.42, goodwill(40)],
  ['Evergreen Energy', 'evergreen', 'business', 8, 'eu-west', 0.27, 0.33],
  ['Fjord Mobility', 'fjord', 'pro', 18, 'eu-west', 0.72, 0.67, { becomes: 'past_due' }],
  ['Foxglove Pharma', 'foxglove', 'business', 24, 'eu-west', 0.97, 0.81, budgetOf('api-calls', 400_000)],
  ['Granite Insurance', 'granite', 'pro', 5, 'us-east', 0.14, 0.19, { trialDaysLeft: 9 }],
  ['Harbor Kitchens', 'harbor', 'free', 21, 'us-east', 1.06, 0.35],
  ['Indigo Press', 'indigo', 'pro', 14, 'ap-south', 0.41, 0.29, { becomes: 'paused' }],
  ['Juniper Legal', 'juniper', 'pro', 12, 'eu-west', 0.34, 0.48, noProjects()],
  ['Kestrel Aviation', 'kestrel', 'business', 15, 'us-east', 0.49, 1.09, welcomeCredits(2_500)],
  ['Lantern Schools', 'lantern', 'free', 17, 'ap-south', 0.24, 0.12],
  ['Maple Retail', 'maple', 'pro', 23, 'us-east', 0.83, 0.91, budgetOf('ai-tokens', 400_000)],
  ['Meridian Bank', 'meridian', 'business yearly', 60, 'eu-west', 0.09, 0.06, { extraSeats: 40 }],
  ['Nimbus Weather', 'nimbus', 'pro', 20, 'ap-south', 0.66, 0.37, welcomeCredits(500)],
  ['Oakline Furniture', 'oakline', 'free', 6, 'eu-west', 0.18, 0.05, { becomes: 'canceled' }],
  ['Orbit Logistics', 'orbit', 'pro', 10, 'ap-south', 0.53, 0.46, { trialDaysLeft: 4 }],
  ['Pinecone Labs', 'pinecone', 'free', 15, 'us-east', 0.81, 0.97],
  ['Quarry Steel', 'quarry', 'pro', 17, 'us-east', 0.22, 0.16, { becomes: 'canceled_at_period_end' }],
  ['Riverstone Media', 'riverstone', 'pro', 19, 'eu-west', 0.47, 0.74, moreSeats(25)],
  ['Sable Security', 'sable', 'business', 4, 'us-east', 0.15, 0.13, { trialDaysLeft: 10 }],
  ['Tidewater Foods', 'tidewater', 'pro', 21, 'eu-west', 0.6, 0.58, { becomes: 'past_due' }],
  ['Willow Housing', 'willow', 'free', 12, 'ap-south', 0.43, 0.26],
];

export const CUSTOMERS: DemoCustomer[] = ROWS.map(toCustomer);

function toCustomer([name, slug, named, periodDays, region, calls, tokens, story]: Row): DemoCustomer {
  const [plan = 'free', yearly] = named.split(' ');
  return {
    name,
    slug,
    plan: plan as PlanKey,
    interval: yearly === undefined ? 'month' : 'year',
    periodDays,
    region,
    used: { 'api-calls': calls, 'ai-tokens': tokens },
    ...(story === undefined ? {} : { story }),
  };
}

/** Too little for what is used: the balance reaches zero. */
function goodwill(amount: number): Story {
  return { credits: [{ amount, reason: 'Goodwill after an outage' }] };
}

function welcomeCredits(amount: number): Story {
  const credits = [
    { amount, reason: 'Welcome credits', expiresInDays: 60 },
    { amount: amount * 2, reason: 'Prepaid package' },
  ];
  return { credits };
}

function noProjects(): Story {
  return { override: { featureKey: 'projects', value: 0, reason: 'Suspended until the contract is signed' } };
}

function moreSeats(value: number): Story {
  return { override: { featureKey: 'seats', value, reason: 'Agreed with sales', expiresInDays: 45 } };
}

function budgetOf(meterKey: MeterKey, soft: number): Story {
  return { budget: { meterKey, soft, hard: soft * 1.25 } };
}
