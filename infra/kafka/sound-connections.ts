/** Of kafkajs' inner connection. */
export interface InnerConnection {
  connect(): Promise<unknown>;
  disconnect(): Promise<unknown>;
  rejectRequests(error: Error): void;
  /** Who waits for the answer to a login. */
  authHandlers: { onError(): void } | null;
  isConnected(): boolean;
  /** What it has of an answer that has not come whole yet. */
  chunks: Buffer[];
  bytesBuffered: number;
  bytesNeeded: number;
}

export interface InnerPoolBuilder {
  build(...where: unknown[]): Promise<{ pool: InnerConnection[] }>;
}

const LENGTH_BYTES = 4;

/**
 * Mends how kafkajs ends a connection and opens it again, each of which leaves a process deaf until it is
 * started anew. It keeps the beginning of an answer that was cut off, and takes what comes next for its
 * rest. It takes requests for a connection that is just ending, and nobody ever tells them that it has:
 * the end waits for them, and they for the end. And of two who need a connection at once each opens one,
 * of which the other is heard as well.
 */
export function mendConnections(builder: InnerPoolBuilder): void {
  const build = builder.build;
  builder.build = async (...where) => {
    const built = await build(...where);
    for (const connection of built.pool) {
      mendConnect(connection);
      mendDisconnect(connection);
    }
    return built;
  };
}

function mendConnect(connection: InnerConnection): void {
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

function mendDisconnect(connection: InnerConnection): void {
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
