import { timestampMs } from '../../schemas/primitives/timestamp.ts';
import { CommittedResponse } from '../http/committed-response.ts';
import type { Handlers } from '../http/request-context.ts';
import { readPlainValues } from '../input/read-metadata.ts';
import { beginCommit } from '../reservations/commit-holds.ts';
import type { CommitUsage } from '../reservations/commit-usage.ts';
import { readValue } from '../reservations/hold-input.ts';
import { committedBody } from '../reservations/shown-reservation.ts';
import { findKnown, requestOf } from './reservations.ts';

type CommitHandlers = Pick<Handlers, 'reservations.commit'>;

export function createCommitHandlers({ commitUsage }: { commitUsage: CommitUsage }): CommitHandlers {
  return {
    'reservations.commit': async (context, { params, body, bodyText }) => {
      const { id, customerId } = await findKnown(context, params.reservationId);
      const usage = {
        value: readValue(bodyText),
        occurredAt: body.occurredAt === undefined ? undefined : new Date(timestampMs(body.occurredAt) ?? 0),
        properties: bodyText === '' ? undefined : readPlainValues(bodyText, 'properties'),
      };
      const response = await commitUsage({
        ...requestOf(context),
        ...{ customerId, reservationId: id },
        begin: (account, now) => beginCommit(account, id, usage, now),
        respond: committedBody,
      });
      return new CommittedResponse(response);
    },
  };
}
