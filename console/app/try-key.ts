import { fetchOperation } from '../api/rest.ts';
import { ApiError } from '../api/send.ts';
import type { Responded } from '../api/wire.ts';

/** Where a key leads, or why it cannot be used. */
export type Tried = { workspace: Responded<'workspace.retrieve'> } | { fault: string };

const NEEDED = 'It needs a secret key: one that begins with sk_live_ or sk_test_.';

/** Nothing is kept. */
export async function tryKey(key: string): Promise<Tried> {
  const fault = faultOfKey(key);
  if (fault !== undefined) return { fault };
  try {
    const headers = { Authorization: `Bearer ${key}` };
    const path = '/api/v1/workspace';
    return { workspace: await fetchOperation<'workspace.retrieve'>({ path, headers }) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { fault: error.status === 401 ? `${error.message} ${NEEDED}` : error.message };
  }
}

/** Why a text cannot be the key of the console; undefined when it may be one. */
function faultOfKey(text: string): string | undefined {
  if (text === '') return `Enter a key. ${NEEDED}`;
  if (/^pk_/.test(text)) {
    return `This is a publishable key, which pages of your customers use; the console cannot. ${NEEDED}`;
  }
  if (/^ct_/.test(text)) return `This is the token of one customer. ${NEEDED}`;
  if (!/^sk_(live|test)_\w+$/.test(text)) return `This is no key of Metergate. ${NEEDED}`;
  return undefined;
}
