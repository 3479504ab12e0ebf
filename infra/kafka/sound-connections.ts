/** Of kafkajs' inner connection. */
export interface InnerConnection {
  connect(): Promise<unknown>;
  disconnect(): Promise<unknown>;
  rejectRequests(error: Error): void;
  /** The request that waits for the response to a login. */
  authHandlers: { onError(): void } | null;
  isConnected(): boolean;
  /** The bytes of a response that has not arrived whole yet. */
  chunks: Buffer[];
  bytesBuffered: number;
  bytesNeeded: number;
}

export interface InnerPoolBuilder {
  build(...where: unknown[]): Promise<{ pool: InnerConnection[] }>;
}

const LENGTH_BYTES = 4;

/**
 * Repairs how kafkajs closes a connection and opens it again; either fault leaves a process without responses
 * until it is restarted. kafkajs keeps the beginning of a truncated response, and takes the next bytes for
 * its rest. It accepts requests for a connection that is just closing, and never fails them: the close waits
 * for them, and they wait for the close. And when two callers need a connection at once each opens one, and
 * responses of the other are read as well.
 */
export function repairConnections(builder: InnerPoolBuilder): void {
  const build = builder.build;
  builder.build = async (...where) => {
    const built = await build(...where);
    for (const connection of built.pool) {
      repairConnect(connection);
      repairDisconnect(connection);
    }
    return built;
  };
}

function repairConnect(connection: InnerConnection): void {
  const connect = connection.connect.bind(connection);
  let connecting: Promise<unknown> | undefined;
  connection.connect = () => {
    if (connection.isConnected()) return Promise.resolve(true);
    if (connecting) return connecting;
    Object.assign(connection, { chunks: [], bytesBuffered: 0, bytesNeeded: LENGTH_BYTES });
    connecting = connect().finally(() => {
      connecting = undefined;
    });
    return connecting;
  };
}

function repairDisconnect(connection: InnerConnection): void {
  const disconnect = connection.disconnect.bind(connection);
  const giveUp = () => {
    connection.authHandlers?.onError();
    connection.rejectRequests(new Error('The connection to the broker has ended.'));
  };
  connection.disconnect = async () => {
    giveUp();
    const done = await disconnect();
    // Those that came in between.
    giveUp();
    return done;
  };
}
