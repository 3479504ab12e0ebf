import { isUtf8 } from 'node:buffer';

/**
 * The first fault of bytes that should be JSON (RFC 8259) in UTF-8, as the end of "The body …". Only for
 * text that JSON.parse has rejected: its own messages differ between releases of Node, and few name a place.
 * Nothing here recurses.
 */
export function jsonFault(bytes: Uint8Array, from = 0): string {
  const beyondUtf8 = isUtf8(bytes) ? undefined : utf8FaultAt(bytes);
  if (beyondUtf8 !== undefined) return `is not valid UTF-8 at byte offset ${from + beyondUtf8}`;
  return jsonFaultText(bytes, jsonFaultAt(bytes) ?? bytes.length, from);
}

/** The same where it is known that the bytes are UTF-8, and where their fault is. */
export function jsonFaultText(bytes: Uint8Array, at: number, from: number): string {
  if (at === bytes.length) return `is not valid JSON: it ends too early, at byte offset ${from + at}`;
  return `is not valid JSON at byte offset ${from + at}: unexpected ${tokenAt(bytes, at)}`;
}

/** The offset of the first byte that no JSON could have there; undefined when the bytes are JSON. */
export function jsonFaultAt(bytes: Uint8Array): number | undefined {
  /** Of each open container but the innermost: the byte that closes it; 0 outside of all. */
  const outer = new Uint8Array(bytes.length);
  let levels = 0;
  let close = 0;
  let at = 0;
  let expected = VALUE;
  for (;;) {
    at = afterSpace(bytes, at);
    const byte = bytes[at];
    if (expected === NEXT) {
      if (close === 0) return byte === undefined ? undefined : at;
      if (byte === COMMA) expected = close === CLOSE_LIST ? VALUE : NAME;
      else if (byte === close) close = outer[--levels] ?? 0;
      else return at;
      at++;
    } else if (expected >= OR_END && byte === close) {
      close = outer[--levels] ?? 0;
      expected = NEXT;
      at++;
    } else if (expected === NAME || expected === NAME_OR_END) {
      const end = byte === QUOTE ? afterString(bytes, at) : { fault: at };
      if (typeof end === 'object') return end.fault;
      at = afterSpace(bytes, end);
      if (bytes[at] !== COLON) return at;
      at++;
      expected = VALUE;
    } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      outer[levels++] = close;
      close = byte + 2; // in ASCII the closing brackets come two after the opening ones
      expected = byte === OPEN_OBJECT ? NAME_OR_END : VALUE_OR_END;
      at++;
    } else {
      const end = byte === QUOTE ? afterString(bytes, at) : afterWord(bytes, at);
      if (typeof end === 'object') return end.fault;
      at = end;
      expected = NEXT;
    }
  }
}

/** What may come: numbers, since a text for each would be compared at every byte. */
const NEXT = 0;
const VALUE = 1;
const NAME = 2;
const OR_END = 3;
const VALUE_OR_END = VALUE + OR_END;
const NAME_OR_END = NAME + OR_END;

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const OPEN_LIST = 91;
const BACKSLASH = 92;
const CLOSE_LIST = 93;
const OPEN_OBJECT = 123;
const LETTER_U = 117;
const ESCAPED = new Set(Buffer.from('"\\/bfnrtu'));

type End = number | { fault: number };

function afterSpace(bytes: Uint8Array, from: number): number {
  let at = from;
  for (; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte !== 32 && byte !== 10 && byte !== 13 && byte !== 9) break;
  }
  return at;
}

/** Behind the string that begins here, or where it has a fault. */
export function afterString(bytes: Uint8Array, from: number): End {
  for (let at = from + 1; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) return at + 1;
    if (byte < 32) return { fault: at };
    if (byte !== BACKSLASH) continue;
    at++;
    const escaped = bytes[at];
    if (escaped === undefined) break;
    if (!ESCAPED.has(escaped)) return { fault: at };
    if (escaped !== LETTER_U) continue;
    for (const last = at + 4; at < last; at++) {
      if (at + 1 >= bytes.length) return { fault: bytes.length };
      if (!/[0-9a-fA-F]/.test(String.fromCharCode(bytes[at + 1] ?? 0))) return { fault: at + 1 };
    }
  }
  return { fault: bytes.length };
}

const WORD_BYTES_MAX = 16;

/** A number, true, false or null. */
function afterWord(bytes: Uint8Array, from: number): End {
  let end = from;
  while (IS_WORD[bytes[end] ?? 0] === 1) end++;
  if (isDigits(bytes, from, end)) return end;
  if (end === from) return { fault: from };
  // Of a token that is too long to be shown, the beginning alone is checked: it is a number or none.
  const word = Buffer.from(bytes.buffer, bytes.byteOffset + from, end - from).toString('latin1');
  const sound = NUMBER.exec(word)?.[0] ?? (LITERALS.has(word) ? word : '');
  if (sound === word) return end;
  return { fault: end === bytes.length && mayGoOn(word) ? end : from };
}

const WORD = /[A-Za-z0-9_.+-]/;
const IS_WORD = Uint8Array.from({ length: 256 }, (_, byte) => (WORD.test(String.fromCharCode(byte)) ? 1 : 0));

/** A whole number that begins with no zero, as most are. */
function isDigits(bytes: Uint8Array, from: number, end: number): boolean {
  if (end === from || bytes[from] === ZERO) return false;
  for (let at = from; at < end; at++) {
    const byte = bytes[at] ?? 0;
    if (byte < ZERO || byte > NINE) return false;
  }
  return true;
}

const ZERO = 48;
const NINE = 57;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/;
const LITERALS = new Set(['true', 'false', 'null']);

/** Whether this word could continue as JSON if the body was cut off. */
function mayGoOn(word: string): boolean {
  const isBegun = [...LITERALS].some((literal) => literal.startsWith(word));
  return isBegun || /^-?(?:(?:0|[1-9]\d*)(?:\.|\.\d*[eE][+-]?|[eE][+-]?)?)?$/.test(word);
}

/** The token at this place, in a few characters that any log and any header can show. */
function tokenAt(bytes: Uint8Array, at: number): string {
  let end = at;
  while (end - at < WORD_BYTES_MAX && IS_WORD[bytes[end] ?? 0] === 1) end++;
  if (end > at) return `\`${Buffer.from(bytes.subarray(at, end)).toString('latin1')}\``;
  const byte = bytes[at] ?? 0;
  return byte > 32 && byte < 127 ? `\`${String.fromCharCode(byte)}\`` : `byte 0x${hex(byte)}`;
}

function hex(byte: number): string {
  return byte.toString(16).padStart(2, '0');
}

function utf8FaultAt(bytes: Uint8Array): number | undefined {
  for (let at = 0; at < bytes.length; ) {
    const length = characterBytes(bytes, at);
    if (length === 0) return at;
    at += length;
  }
  return undefined;
}

/** As Unicode's table 3-7 of well-formed sequences has it; 0 for what is none. */
function characterBytes(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return 1;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  const second = bytes[at + 1] ?? 0;
  const low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
  const high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  if (first < 0xc2 || first > 0xf4 || second < low || second > high) return 0;
  for (let more = 2; more < length; more++) if (((bytes[at + more] ?? 0) & 0xc0) !== 0x80) return 0;
  return length;
}
