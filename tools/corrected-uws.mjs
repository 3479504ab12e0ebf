/**
 * The binaries of uWebSockets.js that Metergate serves with: what is installed, by its hash, and the bytes
 * that are changed in a copy of it. Plain JavaScript without packages, for build.mjs. Why each change is
 * needed, and how it was found: docs/operate/security.md, "The binary of uWebSockets.js".
 */
import { createHash } from 'node:crypto';

/**
 * Loops that trim a header value compare its bytes as signed numbers, so that 0x80 and above pass for
 * spaces: `order-東京` and `order-大阪` became one key. `jge` becomes `jae`, `jg` becomes `ja`.
 */
const TRIMMING = { why: 'a header value keeps its bytes beyond ASCII' };
/**
 * After a last chunk two bytes are dropped and the next ones are read as a request: a trailer field could be
 * one. The count of bytes to drop no longer decreases, so that nothing else of a connection is read. The HTTP
 * front closes the connection after the response.
 */
const TRAILERS = { why: 'what follows a last chunk is no request' };
/** Names with `_` or `.` stopped the older parser without a response. `_` arrives as DEL (0x7f) there. */
const NAMES = { why: 'header names may have any token character' };

/** Pages of the parser's own, in place and so of the same length, in the form of our errors. */
const PAGES = [
  {
    was: [
      'HTTP/1.1 505 HTTP Version Not Supported\r\nConnection: close\r\n\r\n',
      '<h1>HTTP Version Not Supported</h1><p>This server does not support HTTP/1.0.</p>',
      '<hr><i>uWebSockets/20 Server</i>',
    ].join(''),
    is: page(505, 'invalid_request', 'Use HTTP/1.1 (nginx: proxy_http_version 1.1;).'),
  },
  {
    was: [
      'HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\n\r\n',
      '<h1>Request Header Fields Too Large</h1><hr><i>uWebSockets/20 Server</i>',
    ].join(''),
    is: page(431, 'headers_too_large', 'Too many headers.'),
  },
  {
    was: [
      'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n',
      '<h1>Bad Request</h1><hr><i>uWebSockets/20 Server</i>',
    ].join(''),
    // There is no room for its media type.
    is: page(400, 'invalid_request', 'Not HTTP/1.1.', ''),
  },
].map(({ was, is }) => ({ why: 'a response in our form', was, is: is.padEnd(was.length), times: 1 }));

/** Built from the sources of January 2024. */
const OF_2024 = [
  { ...TRIMMING, was: hex('41803c0121 7d'), is: hex('41803c0121 73'), times: 1 },
  { ...TRIMMING, was: hex('418079ff20 7f'), is: hex('418079ff20 77'), times: 1 },
  // add $-1,%rax → add $0,%rax
  { ...TRAILERS, was: hex('4c21f0 4883c0ff 4809c3'), is: hex('4c21f0 4883c000 4809c3'), times: 1 },
  // Letters: 26 from `A`, now 31, through `_`. The rest: 10 from `0`, now 25 from `!`, up to `9`.
  { ...NAMES, was: hex('89f8 24df 04bf 3c1a'), is: hex('89f8 24df 04bf 3c1f'), times: 2 },
  { ...NAMES, was: hex('4080ff2d 740e 8d47d0 3c09'), is: hex('4080ff2d 740e 8d47df 3c18'), times: 1 },
  { ...NAMES, was: hex('8d77d0 4080ff2d 74dd 4080fe0a'), is: hex('8d77df 4080ff2d 74dd 4080fe19'), times: 1 },
  ...PAGES,
];

/** Built from later sources, whose parser takes any token as a name. */
const OF_2025 = [
  { ...TRIMMING, was: hex('41807c030121 7d'), is: hex('41807c030121 73'), times: 1 },
  { ...TRIMMING, was: hex('41807bff20 7f'), is: hex('41807bff20 77'), times: 1 },
  // dec %rbx → a nop of three bytes
  { ...TRAILERS, was: hex('4c21d3 48ffcb 4909de'), is: hex('4c21d3 0f1f00 4909de'), times: 1 },
  ...PAGES,
];

/** By the name of the file in the package: its hash (SHA-256), what is changed, and the hash after that. */
export const REVIEWED_BINARIES = {
  // Node 20
  'uws_linux_x64_115.node': {
    installed: 'f4fa5d7b697529b45ac8aa3d57385d9af51bc1d2b26aa9f5b68ca4361542e665',
    changes: OF_2024,
    corrected: 'ecd5b758adf81d012abe54aceca9296e5d84bf657b5ea511567ba20052bd6dea',
  },
  // Node 22
  'uws_linux_x64_127.node': {
    installed: '78e38a9a163b1cf33ce539619e5908111dea95a12e7943d95fbcdd524879caa8',
    changes: OF_2025,
    corrected: 'f281be9698fd6bb03fb74455324d21caeb1b7d1e5b2b35f4b6e531d9ac0db8d7',
  },
  // Node 24
  'uws_linux_x64_137.node': {
    installed: '3b549c14e01d9d1faf234cdf4b6f0fb08158605e3692cd0eb1b905e327bd3449',
    changes: OF_2025,
    corrected: '46d56b2f0dd760b76b93bf1c1f72f9494085241f28bbb765519ce1163fa03b08',
  },
};

/** The name of the binary for this machine and this Node. */
export function binaryName({ platform, arch, versions } = process) {
  return `uws_${platform}_${arch}_${versions.modules}.node`;
}

/** The bytes that are served with. Throws where the given ones are not those that were reviewed. */
export function correctBinary(name, installed) {
  const reviewed = REVIEWED_BINARIES[name];
  if (!reviewed) throw new Error(`${name} was not reviewed`);
  expectHash(name, installed, reviewed.installed);
  const corrected = Buffer.from(installed);
  for (const change of reviewed.changes) apply(corrected, change);
  expectHash(`${name}, corrected,`, corrected, reviewed.corrected);
  return corrected;
}

function expectHash(name, bytes, expected) {
  const found = createHash('sha256').update(bytes).digest('hex');
  if (found === expected) return;
  throw new Error(`${name} has the SHA-256 ${found}; reviewed was ${expected}. Install the locked packages.`);
}

function apply(bytes, { why, was, is, times }) {
  const [from, to] = [Buffer.from(was, 'latin1'), Buffer.from(is, 'latin1')];
  let found = 0;
  for (let at = bytes.indexOf(from); at >= 0; at = bytes.indexOf(from, at + 1)) {
    to.copy(bytes, at);
    found += 1;
  }
  if (found !== times || from.length !== to.length) throw new Error(`not where it was: ${why}`);
}

function page(status, code, message, type = 'Content-Type: application/json\r\n') {
  const head = `HTTP/1.1 ${status} \r\nX-API-Version: v1\r\n${type}\r\n`;
  return `${head}{"error":{"code":"${code}","message":"${message}"}}`;
}

function hex(text) {
  return Buffer.from(text.replaceAll(' ', ''), 'hex').toString('latin1');
}
