import { expect, it } from 'vitest';
import { Decimal, exactBody, WrittenJson } from './exact-body.ts';

/** Red when a decimal goes through a double. */
it('sends decimals with the digits that were typed', () => {
  const body = { value: new Decimal('123456789012345.000000000001'), soft: false };
  expect(exactBody(body)).toBe('{"value":123456789012345.000000000001,"soft":false}');
});

it('leaves texts that look like decimals as they are', () => {
  expect(exactBody({ reason: '12.50', key: '1' })).toBe('{"reason":"12.50","key":"1"}');
});

it.each(['', '-1', '1e5', '01', '1,5', 'NaN', '0x10', '1.'])('takes %j for no decimal', (text) => {
  expect(() => new Decimal(text)).toThrow(TypeError);
});

it('sends JSON that a person wrote as it is, and rejects what is none', () => {
  expect(exactBody(new WrittenJson('{ "amount": 0.10 }'))).toBe('{ "amount": 0.10 }');
  expect(() => new WrittenJson('{ amount: 1 }')).toThrow(SyntaxError);
});
