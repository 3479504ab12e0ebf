// With the SDK of OpenMeter for JavaScript, as it is: one event, a batch, the batch again, and events that
// cannot be counted. Run by ../check-openmeter.ts, which knows what they come to.
import assert from 'node:assert/strict';
import { OpenMeter } from '@openmeter/sdk';

const { METERGATE_URL: baseUrl, METERGATE_KEY: apiKey, SUBJECT: subject } = process.env;
const { events } = new OpenMeter({ baseUrl, apiKey });

const prompt = (tokens, members = {}) => {
  return { type: 'prompt', subject, source: '/js', data: { tokens, model: 'large' }, ...members };
};
const batch = Array.from({ length: 500 }, (_, at) => prompt(at % 2 ? '0.25' : 0.25, { id: `js-${at}` }));

await events.ingest(prompt(5));
await events.ingest(batch);
await events.ingest(batch);
await events.ingest(prompt(1, { type: 'unheard' }));
await assert.rejects(events.ingest(prompt(1, { subject: 'nobody' })), { status: 400 });
// Of a batch the others count.
await assert.rejects(events.ingest([prompt(7), prompt(1, { subject: 'nobody' })]), { status: 400 });
await assert.rejects(new OpenMeter({ baseUrl, apiKey: 'sk_wrong' }).events.ingest(prompt(1)), {
  status: 401,
});
