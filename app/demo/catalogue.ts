/** What the demo sells: an API for documents with two meters, in three plans. */
import type { BodyOf } from './api-client.ts';

export const METERS: Array<BodyOf<'meters.create'>> = [
  { key: 'api-calls', name: 'API calls', aggregation: 'sum', unit: 'calls' },
  {
    key: 'ai-tokens',
    name: 'AI tokens',
    aggregation: 'sum',
    unit: 'tokens',
    creditRate: 0.001,
    creditRates: { property: 'model', rates: { small: 0.0005, large: 0.004 } },
  },
];

export const FEATURES: Array<BodyOf<'features.create'>> = [
  { key: 'api-calls', name: 'API calls', type: 'metered', meterKey: 'api-calls' },
  { key: 'ai-tokens', name: 'AI tokens', type: 'metered', meterKey: 'ai-tokens' },
  { key: 'seats', name: 'Seats', type: 'limit' },
  { key: 'projects', name: 'Projects', type: 'limit' },
  { key: 'sso', name: 'Single sign-on', type: 'boolean' },
  { key: 'audit-export', name: 'Audit log export', type: 'boolean' },
];

export const ADDON = {
  created: { key: 'extra-seats', name: 'Extra seats' },
  entitlements: [{ featureKey: 'seats', value: 1 }],
  prices: [
    { key: 'extra-seat', currency: 'EUR', interval: 'month', model: 'flat', amount: 9 },
    { key: 'extra-seat', currency: 'EUR', interval: 'year', model: 'flat', amount: 90 },
  ],
} satisfies {
  created: BodyOf<'addons.create'>;
  entitlements: BodyOf<'addons.replaceEntitlements'>['entitlements'];
  prices: BodyOf<'addons.replacePrices'>['prices'];
};

export type PlanKey = 'free' | 'pro' | 'business';

export interface DemoPlan {
  key: PlanKey;
  created: BodyOf<'createPlan'>;
  entitlements: BodyOf<'plans.replaceEntitlements'>['entitlements'];
  prices: BodyOf<'plans.replacePrices'>['prices'];
  creditGrants: BodyOf<'plans.replaceCreditGrants'>['creditGrants'];
  /** What the metered features allow in a billing period, as in `entitlements`. */
  limits: Record<MeterKey, number>;
}

export type MeterKey = 'api-calls' | 'ai-tokens';

interface PlanSpec extends Pick<DemoPlan, 'key' | 'created' | 'limits' | 'prices' | 'creditGrants'> {
  seats: number;
  projects: number | null;
  /** Of `sso` and `audit-export`. */
  isForCompanies: boolean;
}

const PRODUCT = 'document-api';
const EURO = { currency: 'EUR', model: 'flat' } as const;

export const PLANS: DemoPlan[] = [
  toPlan({
    key: 'free',
    created: {
      productId: PRODUCT,
      name: 'Free',
      description: 'To try it out',
      position: 1,
      highlights: ['1,000 API calls a month', '20,000 AI tokens', 'Community support'],
      callToAction: 'Start for free',
    },
    seats: 2,
    projects: 1,
    isForCompanies: false,
    limits: { 'api-calls': 1_000, 'ai-tokens': 20_000 },
    prices: [{ ...EURO, key: 'base', interval: 'month', amount: 0 }],
    creditGrants: [],
  }),
  toPlan({
    key: 'pro',
    created: {
      productId: PRODUCT,
      name: 'Pro',
      description: 'For teams in production',
      position: 2,
      highlights: [
        '50,000 API calls a month',
        '500,000 AI tokens',
        'Credits of 200 a month',
        'Email support',
      ],
      callToAction: 'Choose Pro',
    },
    seats: 10,
    projects: 20,
    isForCompanies: false,
    limits: { 'api-calls': 50_000, 'ai-tokens': 500_000 },
    prices: [
      { ...EURO, key: 'base', interval: 'month', amount: 49 },
      { ...EURO, key: 'base', interval: 'year', amount: 490 },
      callsPrice(10_000, 0.002),
    ],
    creditGrants: [{ key: 'included', amount: 200, every: 'month', expires: 'period_end' }],
  }),
  toPlan({
    key: 'business',
    created: {
      productId: PRODUCT,
      name: 'Business',
      description: 'For companies with many teams',
      position: 3,
      highlights: ['500,000 API calls a month', '5,000,000 AI tokens', 'Single sign-on', 'Audit log export'],
      callToAction: 'Choose Business',
    },
    seats: 50,
    projects: null,
    isForCompanies: true,
    limits: { 'api-calls': 500_000, 'ai-tokens': 5_000_000 },
    prices: [
      { ...EURO, key: 'base', interval: 'month', amount: 249 },
      { ...EURO, key: 'base', interval: 'year', amount: 2_490 },
      callsPrice(100_000, 0.0012),
    ],
    creditGrants: [{ key: 'included', amount: 1_000, every: 'month', expires: 'period_end' }],
  }),
];

function callsPrice(included: number, unitAmount: number): DemoPlan['prices'][number] {
  return {
    key: 'calls',
    currency: 'EUR',
    interval: 'month',
    model: 'graduated',
    meterKey: 'api-calls',
    description: `${included.toLocaleString('en-US')} calls included`,
    tiers: [
      { upTo: included, unitAmount: 0 },
      { upTo: null, unitAmount },
    ],
  };
}

function toPlan({ seats, projects, isForCompanies, limits, ...plan }: PlanSpec): DemoPlan {
  const entitlements = [
    { featureKey: 'api-calls', value: limits['api-calls'] },
    { featureKey: 'ai-tokens', value: limits['ai-tokens'] },
    { featureKey: 'seats', value: seats },
    { featureKey: 'projects', value: projects },
    { featureKey: 'sso', value: isForCompanies },
    { featureKey: 'audit-export', value: isForCompanies },
  ];
  return { ...plan, limits, entitlements };
}
