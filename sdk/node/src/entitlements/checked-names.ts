import { ApiError } from '../client/api-error.ts';

/** Of the server. */
const NAME_CHARS_MAX = 128;
/** A path segment that is removed from a path; and what no store keeps. */
const IMPOSSIBLE = /^\.{1,2}$|\0/;

/**
 * Throws an ApiError `invalid_request` for a name that no customer or feature can have. It is not sent: the
 * feed would be rejected with it for all other customers too.
 */
export function checkName(param: 'customerId' | 'featureKey', name: unknown): void {
  if (typeof name !== 'string' || name === '') throw invalid(param, 'must be a text that is not empty');
  // mutant: impossible-name-watched
  if (name.length > NAME_CHARS_MAX || IMPOSSIBLE.test(name) || !isWellFormed(name)) {
    throw invalid(param, `has at most ${NAME_CHARS_MAX} characters, none of them U+0000 or half of a pair`);
  }
}

/** `isWellFormed` of texts is not everywhere. */
function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}

function invalid(param: string, rule: string): ApiError {
  return new ApiError(`\`${param}\` ${rule}.`, { code: 'invalid_request', param });
}
