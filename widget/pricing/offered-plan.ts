/** What this element reads of `GET /api/v1/pricing`; numbers are the doubles of `JSON.parse`. */
export interface OfferedPlan {
  id: string;
  key: string;
  name: string;
  description?: string;
  highlights?: string[];
  callToAction?: string;
  prices: OfferedPrice[];
  entitlements: OfferedEntitlement[];
  scenario?: 'new' | 'upgrade' | 'downgrade' | 'active' | 'scheduled';
}

export interface OfferedEntitlement {
  featureKey: string;
  featureName: string;
  value: boolean | number | null;
  unit?: string;
}

interface AnyPrice {
  key: string;
  currency: string;
  interval: 'day' | 'week' | 'month' | 'year';
  intervalCount?: number;
  description?: string;
}

export type OfferedPrice = AnyPrice &
  (
    | { model: 'flat'; amount: number }
    | { model: 'per_unit'; meterKey: string; unitAmount: number; included?: number }
    | { model: 'graduated' | 'volume'; meterKey: string; tiers: Array<{ unitAmount: number }> }
    | { model: 'package'; meterKey: string; size: number; amount: number; included?: number }
    | { model: 'percentage'; meterKey: string; rate: number; fixed?: number }
    | { model: 'seat'; featureKey: string; unitAmount: number }
  );
