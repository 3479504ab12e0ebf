const EVENT_ID = /^use_[a-z2-7]{26}$/;

/** The parameter by which an event is found. A text of the form of an event id is taken for one. */
export function soughtAs(text: string): { id: string } | { idempotencyKey: string } {
  return EVENT_ID.test(text) ? { id: text } : { idempotencyKey: text };
}
