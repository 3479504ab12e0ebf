import { expect, test } from 'vitest';
import { errorResponse } from './error-response.ts';

const REJECTION = { code: 'customer_not_found', message: 'No customer.', param: 'customerId' } as const;

test.each([undefined, '*/*', 'application/json', 'application/problem+json;q=0'])(
  'Accept: %s gets the usual error',
  (accept) => {
    const { mediaType, body } = errorResponse(REJECTION, { requestId: 'r', accept });
    expect([mediaType, JSON.parse(body)]).toEqual([
      'application/json',
      { error: { ...REJECTION, requestId: 'r' } },
    ]);
  },
);

test('a problem (RFC 9457) has the same code', () => {
  const accept = 'application/json, application/problem+json';
  const { mediaType, body } = errorResponse(REJECTION, { requestId: 'r', accept });
  expect(mediaType).toBe('application/problem+json');
  expect(JSON.parse(body)).toEqual({
    type: 'urn:metergate:error:customer_not_found',
    title: 'Customer not found',
    status: 404,
    detail: 'No customer.',
    code: 'customer_not_found',
    param: 'customerId',
    requestId: 'r',
  });
});
