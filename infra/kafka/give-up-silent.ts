import type { Socket } from 'node:net';

/** As long as the most patient request. */
const SILENT_MAX_MS = 6_000;
const LOOKS = 6;

/**
 * Closes a connection on which nothing is received while a response is due. kafkajs gives up the request and
 * sends the next on the same connection: where the other side vanished, until the system gives up as well, a
 * quarter of an hour later. The pending request has an unknown outcome, as on any connection that fails.
 */
export function giveUpSilent(socket: Socket, silentMaxMs = SILENT_MAX_MS): Socket {
  let respondedUpTo = 0;
  let silentLooks = 0;
  // Looks are counted and not the time: a process that was paused has received nothing either.
  const looking = setInterval(() => {
    silentLooks = socket.bytesWritten > respondedUpTo ? silentLooks + 1 : 0;
    // mutant: silent-broker-kept
    if (silentLooks > LOOKS) socket.destroy(new Error(`nothing was received for ${silentMaxMs} ms`));
  }, silentMaxMs / LOOKS);
  return socket
    .on('data', () => {
      respondedUpTo = socket.bytesWritten;
      silentLooks = 0;
    })
    .once('close', () => clearInterval(looking));
}
