/**
 * How long the subscription clock waits for the payment processor to report the end of a trial, or a
 * cancellation that it scheduled itself, before it makes the change in its place. Stripe retries for 3 days.
 * Source: https://docs.stripe.com/webhooks#automatic-retries
 */
export const PROCESSOR_GRACE_MS = 72 * 3_600_000;
