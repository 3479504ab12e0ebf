/** What is put in the place of one. */
const INSTEAD = '[secret]';

/**
 * API keys, the processor's keys, customer tokens (two parts with a dot between them), and signing secrets:
 * these hold base64, of which a slash may be a part.
 */
const SECRET = /[sp]k_(?:live|test)_[\w%+=-]*|ct_(?:live|test)_[\w%.-]*|whsec_[\w%+/=-]*/;
const SECRETS = new RegExp(SECRET, 'g');

/** True where the text holds what has the form of a key or a secret, percent-encoded or not. */
export function holdsSecret(text: string): boolean {
  return SECRET.test(decoded(text));
}

/** The text as it came, unless it holds a secret: then decoded, without it. */
export function withoutSecrets(text: string): string {
  const plain = decoded(text);
  return SECRET.test(plain) ? plain.replace(SECRETS, INSTEAD) : text;
}

/** Of any depth, and visible ASCII alone: a secret is made of nothing else. */
function decoded(text: string): string {
  let plain = text;
  while (plain.includes('%')) {
    const next = plain.replace(ENCODED, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
    if (next === plain) break;
    plain = next;
  }
  return plain;
}

const ENCODED = /%(2[1-9a-f]|[3-6][0-9a-f]|7[0-9a-e])/gi;
