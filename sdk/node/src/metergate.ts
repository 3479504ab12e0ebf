export { ApiError } from './client/api-error.ts';
export { type CallOptions, type Client, type ClientOptions, createClient } from './client/client.ts';
export {
  createEntitlements,
  type Decision,
  type Entitlements,
  type EntitlementsOptions,
} from './entitlements/check.ts';
export type * as schemas from './generated/schemas.ts';
export { createMeter, type Flushed, type Meter, type MeterOptions, type MeterStats } from './meter/meter.ts';
export type { MeterProblem } from './meter/report.ts';
export type { EventRejection, UsageEvent } from './meter/usage-event.ts';
export { type Delivery, verifyWebhook, WebhookError } from './webhooks/verify.ts';
