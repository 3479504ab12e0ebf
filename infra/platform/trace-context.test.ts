import { expect, test } from 'vitest';
import { newSpanId, readTraceparent, traceparentOf } from './trace-context.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

test('a traceparent says the trace, the span of the caller, and whether it is recorded', () => {
  const sampled = readTraceparent(`00-${TRACE}-${SPAN}-01`);
  expect(sampled).toEqual({ traceId: TRACE, parentId: SPAN, isSampled: true });
  expect(readTraceparent(`00-${TRACE}-${SPAN}-02`)).toMatchObject({ isSampled: false });
  expect(readTraceparent(`cc-${TRACE}-${SPAN}-01-later`)).toEqual(sampled);
  const spanId = newSpanId();
  expect(sampled && readTraceparent(traceparentOf(sampled, spanId))).toEqual({
    ...sampled,
    parentId: spanId,
  });
});

test.each([
  undefined,
  '',
  `ff-${TRACE}-${SPAN}-01`,
  `00-${'0'.repeat(32)}-${SPAN}-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
  `00-${TRACE}-${SPAN}-01-more`,
  `00-${TRACE.toUpperCase()}-${SPAN}-01`,
  `00-${TRACE}-${SPAN}-01\n00-${TRACE}-${SPAN}-01`,
  `cc-${TRACE}-${SPAN}-01-${'x'.repeat(1_000)}`,
])('%s is none', (header) => expect(readTraceparent(header)).toBeUndefined());
