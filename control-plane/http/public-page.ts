import type { OperatorCaller } from '../../infra/platform/operator-access.ts';
import type { PublicOperationId } from '../../schemas/routes.ts';

/** A page without a key. */
export interface PublicPage {
  /** 200 by default. */
  status?: number;
  mediaType: string;
  /** With an ETag the page is not sent again to a client that has it. */
  headers?: Record<string, string>;
  body: string | Buffer;
  /** The same body, compressed. */
  encoded?: { br: Buffer; gzip: Buffer };
}

/** `params` are those of the path, unchecked. */
export type PublicPages = Record<
  PublicOperationId,
  (params: Record<string, string>, caller: OperatorCaller) => PublicPage | Promise<PublicPage>
>;
