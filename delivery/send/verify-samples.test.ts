import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ATTEMPT_ERRORS } from '../../schemas/stored/webhook-attempt.ts';
import { CODE_POINT } from '../../tests/support/code-point.ts';
import { signatureHeaders } from './sign.ts';

/*
 * The samples of docs/use/webhooks.md, as a receiver would run them. Without python3 this test fails:
 * otherwise a broken Python sample would go unnoticed.
 *
 * Mutants that turn it red: a timestamp from the future accepted; only the first signature checked; the last
 * of two `t` in the header used; the body parsed and printed before it is verified.
 */
const NOW_SECONDS = 1_767_225_600;
const SECRET = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;
const OLD_SECRET = `whsec_${Buffer.alloc(32, 4).toString('base64')}`;

interface Case {
  /** Base64. */
  body: string;
  header: string | null;
  secret: string;
}

const NODE = `
  import { verifyWebhook } from './docs/samples/verify-webhook.mjs';
  let text = '';
  for await (const chunk of process.stdin) text += chunk;
  const results = JSON.parse(text).map(({ body, header, secret }) => {
    try {
      const nowSeconds = ${NOW_SECONDS};
      const bytes = Buffer.from(body, 'base64');
      return verifyWebhook({ body: bytes, header: header ?? undefined, secret, nowSeconds });
    } catch (error) {
      return error.message;
    }
  });
  console.log(JSON.stringify(results));`;

const PYTHON = `
import base64, json, sys
sys.path.insert(0, "docs/samples")
sys.dont_write_bytecode = True
from verify_webhook import verify_webhook
results = []
for case in json.load(sys.stdin):
    try:
        body = base64.b64decode(case["body"])
        results.append(verify_webhook(body, case["header"], case["secret"], ${NOW_SECONDS}))
    except ValueError as error:
        results.append(str(error))
print(json.dumps(results))`;

const SAMPLES: Array<[language: string, command: string, args: string[]]> = [
  ['Node', process.execPath, ['--input-type=module', '--eval', NODE]],
  ['Python', 'python3', ['-c', PYTHON]],
];

/** What the sample returns or complains of, case by case. */
function run(command: string, args: string[], cases: Case[]): unknown[] {
  const { stdout, stderr, status } = spawnSync(command, args, {
    input: JSON.stringify(cases),
    timeout: 20_000,
  });
  expect([status, String(stderr ?? '')]).toEqual([0, '']);
  return JSON.parse(String(stdout));
}

const EVENT = { id: 'evt_1', name: 'é💡\u2028' };
const BODY = Buffer.from(JSON.stringify(EVENT));

function signed(more: { atSeconds?: number; body?: Buffer; secrets?: string[] } = {}): Case {
  const { atSeconds = NOW_SECONDS, body = BODY, secrets = [SECRET] } = more;
  const headers = signatureHeaders({ eventId: 'evt_1', body, secrets, atMs: atSeconds * 1_000 });
  return { body: body.toString('base64'), header: headers['X-Service-Signature'] ?? null, secret: SECRET };
}

const header = (change: (text: string) => string | null): Case => {
  const good = signed();
  return { ...good, header: change(good.header ?? '') };
};

const GOOD: Array<[what: string, one: Case]> = [
  ['signed now', signed()],
  ['signed 5 minutes ago', signed({ atSeconds: NOW_SECONDS - 300 })],
  ['signed by a clock that is 5 minutes ahead', signed({ atSeconds: NOW_SECONDS + 300 })],
  ['signed with a newer secret too', signed({ secrets: [OLD_SECRET, SECRET] })],
  ['signed with an older secret too', signed({ secrets: [SECRET, OLD_SECRET] })],
  ['with a scheme of later releases', header((text) => `${text},v2=abc`)],
];

const NO_TIME = 'the header has no timestamp';
const NOT_NOW = 'the timestamp is too far from now';
const NOT_SIGNED = 'no signature matches this secret and body';
const BAD: Array<[what: string, one: Case, complaint: string]> = [
  ['signed longer ago', signed({ atSeconds: NOW_SECONDS - 301 }), NOT_NOW],
  ['signed in the future', signed({ atSeconds: NOW_SECONDS + 301 }), NOT_NOW],
  ['signed in the far future', signed({ atSeconds: 99_999_999_999 }), NOT_NOW],
  ['signed with another secret', signed({ secrets: [OLD_SECRET] }), NOT_SIGNED],
  ['of another body', { ...signed(), body: Buffer.from('{}').toString('base64') }, NOT_SIGNED],
  ['of the same JSON in other bytes', { ...signed(), body: btoa('{ "id": "evt_1" }') }, NOT_SIGNED],
  ['with another time', header((text) => text.replace(/^t=\d+/, `t=${NOW_SECONDS + 1}`)), NOT_SIGNED],
  ['without a header', header(() => null), NO_TIME],
  ['with an empty header', header(() => ''), NO_TIME],
  ['without a time', header((text) => text.replace(/^t=\d+,/, '')), NO_TIME],
  ['with two times', header((text) => `${text},t=${NOW_SECONDS}`), NO_TIME],
  ['with a time that is no number', header((text) => text.replace('t=', 't=0x')), NO_TIME],
  ['with a time in other digits', header((text) => text.replace(/^t=\d+/, 't=١٧٦٧٢٢٥٦٠٠')), NO_TIME],
  ['with a time that is grouped', header((text) => text.replace(/^t=\d+/, 't=1_767_225_600')), NO_TIME],
  ['without a signature', header((text) => text.replace(/,v1=.*/, '')), NOT_SIGNED],
  ['with half of a signature', header((text) => text.slice(0, -32)), NOT_SIGNED],
  ['with a signature that is no hex', header((text) => text.replace(/v1=.*/, 'v1=é')), NOT_SIGNED],
  ['with a signature of another scheme', header((text) => text.replace('v1=', 'v0=')), NOT_SIGNED],
];

describe.each(SAMPLES)('the sample for %s', (_, command, args) => {
  it('takes what was signed with the secret, just now', () => {
    const results = run(
      command,
      args,
      GOOD.map(([, one]) => one),
    );
    expect(GOOD.map(([what], at) => [what, results[at]])).toEqual(GOOD.map(([what]) => [what, EVENT]));
  });

  it('rejects everything else, and says why', () => {
    const results = run(
      command,
      args,
      BAD.map(([, one]) => one),
    );
    expect(BAD.map(([what], at) => [what, results[at]])).toEqual(
      BAD.map(([what, , complaint]) => [what, complaint]),
    );
  });

  it('takes 2,000 bodies of any text, and none of them with a bit flipped', () => {
    const text = fc.string({ unit: CODE_POINT, maxLength: 60 }).map((one) => one.toWellFormed());
    const bodies = fc.sample(text, { numRuns: 2_000, seed: 20261121 }).map((one) => JSON.stringify({ one }));
    const cases = bodies.map((one) => signed({ body: Buffer.from(one) }));
    expect(run(command, args, cases)).toEqual(bodies.map((one) => JSON.parse(one)));
    const spoilt = cases.map((one, at) => ({ ...one, body: flipBit(one.body, at * 7_919) }));
    expect(new Set(run(command, args, spoilt))).toEqual(new Set([NOT_SIGNED]));
  });
});

it('docs/use/webhooks.md explains why an attempt may fail', () => {
  const text = readFileSync('docs/use/webhooks.md', 'utf8');
  expect(ATTEMPT_ERRORS.filter((code) => !text.includes(`\`${code}\``))).toEqual([]);
});

function flipBit(base64: string, bit: number): string {
  const bytes = Buffer.from(base64, 'base64');
  const at = Math.floor(bit / 8) % bytes.length;
  bytes[at] = (bytes[at] ?? 0) ^ (1 << (bit % 8));
  return bytes.toString('base64');
}
