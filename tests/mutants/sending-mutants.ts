import type { Mutant } from './mutant.ts';

const SIGNATURES_TEST = 'delivery/send/signatures.test.ts';
const GUARD_TEST = 'delivery/send/endpoint-guard.test.ts';

/** Between a delivery and its receiver. */
export const SENDING_MUTANTS: readonly Mutant[] = [
  {
    name: 'body-re-serialised-before-signing',
    promises: [14],
    why: 'what is signed is not what is sent: no receiver can verify it',
    module: 'delivery/send/send',
    find: 'signatureHeaders({ eventId, body, secrets, atMs })',
    replace: `signatureHeaders({
      eventId, secrets, atMs, body: Buffer.from(JSON.stringify(JSON.parse(request.body))),
    })`,
    provedBy: [
      {
        test: SIGNATURES_TEST,
        title: 'of any body is verified by stripe and standardwebhooks, and by none with a bit flipped',
      },
    ],
  },
  {
    name: 'old-secret-left-out',
    promises: [14],
    why: 'a receiver that has not adopted the new secret yet rejects everything from the rotation on',
    module: 'delivery/send/sign',
    find: 'const hexes = secrets.map(',
    replace: 'const hexes = secrets.slice(0, 1).map(',
    provedBy: [
      {
        test: SIGNATURES_TEST,
        title: 'is signed with the old secret too while both are good, and then with the new one alone',
      },
    ],
  },
  {
    name: 'address-checked-before-fetched-after',
    promises: [15],
    why: 'the name is resolved again to connect, and now leads to an internal address',
    module: 'delivery/send/pinned-pools',
    find: 'connect({ ...options, hostname: address }, callback)',
    replace: 'connect(options, callback)',
    provedBy: [
      {
        test: GUARD_TEST,
        title: 'of a name that resolves to another address the second time reaches nothing',
      },
    ],
  },
  {
    name: 'first-address-checked-alone',
    promises: [15],
    why: 'a name with a public address in front gets at the internal one behind it',
    module: 'delivery/send/endpoint-guard',
    find: 'addresses.every((address) =>',
    replace: 'addresses.slice(0, 1).every((address) =>',
    provedBy: [
      { test: GUARD_TEST, title: 'of a name with one address of the inside among others reaches nothing' },
    ],
  },
  {
    name: 'names-checked-and-literals-not',
    promises: [15],
    why: 'an address in the url itself is never resolved and so is never checked',
    module: 'delivery/send/endpoint-guard',
    find: 'if (addresses.every',
    replace: 'if (isIP(host) !== 0 || addresses.every',
    provedBy: [
      { test: GUARD_TEST, title: 'to 60 and more ways to write an internal address reaches nothing' },
    ],
  },
  {
    name: 'metadata-where-private-is-allowed',
    promises: [15],
    why: 'where webhooks may go to private addresses they fetch the credentials of the whole machine',
    module: 'infra/platform/private-targets',
    find: 'if (!ipaddr.isValid(literal) || isNeverReached(literal)) return false;',
    replace: 'if (!ipaddr.isValid(literal)) return false;',
    provedBy: [
      {
        test: GUARD_TEST,
        title: 'reaches neither a link-local address nor a metadata service, in any form',
      },
    ],
  },
  {
    name: 'any-name-leads-to-loopback',
    promises: [15],
    why: 'a tenant with a domain and a test key reaches every port of the machine by a name of theirs',
    module: 'delivery/send/endpoint-guard',
    find: "privateTargets === 'loopback' && !isLoopbackHost(host) ? 'none' : privateTargets",
    replace: 'privateTargets',
    provedBy: [{ test: GUARD_TEST, title: 'by a name of the DNS that leads there reaches nothing' }],
  },
];
