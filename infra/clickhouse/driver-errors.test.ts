import { describe, expect, it } from 'vitest';
import { Fatal, Poison, Transient } from '../../schemas/failures.ts';
import { insertFailure } from './driver-errors.ts';

/** As the client has it, and as chdb's raw insert does. */
function rejection(code: number, text: string, name: string): Error[] {
  const head = `Code: ${code}. DB::Exception: `;
  const message = `${head}${head}${text} (${name}) (version 26.7.2.1)`;
  return [
    Object.assign(new Error(message), { code: String(code) }),
    Object.assign(new Error(message), { code: 'CHDB_INSERT', clickhouseCode: code }),
  ];
}

// Red when everything but unreadable lines is "unavailable or slow": an operator waits for what never comes.
describe('a block that ClickHouse does not take', () => {
  it.each([
    [516, 'default: Authentication failed: password is incorrect.', 'AUTHENTICATION_FAILED'],
    [497, 'm: Not enough privileges.', 'ACCESS_DENIED'],
    [452, 'Setting max_partitions_per_insert_block should not be changed.', 'SETTING_CONSTRAINT_VIOLATION'],
    [47, 'Missing columns.', 'UNKNOWN_IDENTIFIER'],
  ])('for a reason that lasts (code %d) stops the load with that reason', (code, text, name) => {
    for (const error of rejection(code, text, name)) {
      const failure = insertFailure(error);
      expect(failure).toBeInstanceOf(Fatal);
      expect(failure).toMatchObject({ code: 'warehouse_refuses', cause: error });
      expect(failure.message).toContain(`code ${code} ${name}: ${text}`);
    }
  });

  it.each([
    [
      252,
      'Too many parts (3000). Merges are processing significantly slower than inserts.',
      'TOO_MANY_PARTS',
    ],
    [243, 'Cannot reserve 1.00 MiB, not enough space.', 'NOT_ENOUGH_SPACE'],
    [9_999, 'Something that a later release reports.', 'OF_A_LATER_RELEASE'],
  ])('for a temporary reason (code %d) is sent again, and the reason reported', (code, text, name) => {
    for (const error of rejection(code, text, name)) {
      const failure = insertFailure(error);
      expect(failure).toBeInstanceOf(Transient);
      expect(failure.code).toBe('warehouse_unavailable');
      expect(failure.message).toContain(`It reports: code ${code} ${name}: ${text}`);
    }
  });

  it('for a line that cannot be read is Poison, and its text, which repeats the line, is left out', () => {
    for (const error of rejection(27, 'Cannot parse input: expected 1 before: secret', 'CANNOT_PARSE')) {
      const failure = insertFailure(error);
      expect(failure).toBeInstanceOf(Poison);
      expect(failure.message).not.toContain('secret');
    }
  });

  it('without a response is sent again, and no long text is reported', () => {
    const silence = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    expect(insertFailure(silence).message).toBe('ClickHouse is unavailable or slow.');
    const [long] = rejection(241, 'x'.repeat(5_000), 'MEMORY_LIMIT_EXCEEDED');
    expect(insertFailure(long).message.length).toBeLessThan(300);
  });
});
