import type { Socket } from 'node:net';

/** As long as the most patient request. */
const SILENT_MAX_MS = 6_000;
const LOOKS = 6;

/**
 * Breaks a connection on which nothing is heard while something is owed. kafkajs gives up the request and
 * asks on the same connection again: where the other side went without a word, until the system gives up
 * as well, a quarter of an hour later. What was asked has an unknown outcome, as on any connection that
 * breaks.
 */
export function giveUpSilent(socket: Socket, silentMaxMs = SILENT_MAX_MS): Socket {
  let respondedUpTo = 0;
  let silentLooks = 0;
  // Looks are counted and not the time: a process that stood still has heard nothing either.
  const looking = setInterval(() => {
    silentLooks = socket.bytesWritten > respondedUpTo ? silentLooks + 1 : 0;
    if (silentLooks > LOOKS) socket.destroy(new Error(`nothing was heard for ${silentMaxMs} ms`));
  }, silentMaxMs / LOOKS);
  return socket
    .on('data', () => {
      respondedUpTo = socket.bytesWritten;
      silentLooks = 0;
    })
    .once('close', () => clearInterval(looking));
}
