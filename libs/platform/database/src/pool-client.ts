import { Socket } from 'node:net';
import { Client, type ClientConfig, type ConnectionConfig } from 'pg';
import { ConnectionDroppedError, ServerReadOnlyError } from './database-error';
import type { DatabaseServers } from './database-url';
import { UnnamedStatements } from './unnamed-statements';
import { createWritableServers } from './writable-servers';

/** How long a server may take to accept a connection and report whether it is writable, next to other servers. */
const SERVER_TIMEOUT_MS = 1_000;
const CHECK_TIMEOUT_MS = 2_000;

/** The connections of one pool. */
export interface PoolClients {
  /** For the option `Client` of a pool. */
  readonly Client: new (config?: string | ClientConfig) => Client;
  /** Closes every connection without waiting for the server, so that the next ones search the writable server again. */
  drop(reason: string): void;
}

type Connected = (error: Error | null, client?: Client) => void;

/**
 * The class of a pool's connections. Before it connects to one of several servers, it searches the writable one with
 * short-lived connections, because a `Client` of the driver connects only once. Then it verifies that its own server is
 * writable, because that may have changed meanwhile, and a single address may lead to a read-only server too.
 */
export function createPoolClients(
  { urls, acceptsReadOnly }: DatabaseServers,
  { throughPooler, config }: { readonly throughPooler: boolean; readonly config: ConnectionConfig },
): PoolClients {
  const open = new Set<PoolClient>();
  const servers = createWritableServers(urls, async (url) => {
    const socket = new Socket();
    const client = new Client({
      ...config,
      connectionString: url,
      connectionTimeoutMillis: SERVER_TIMEOUT_MS,
      stream: () => socket,
    });
    client.on('error', () => undefined);
    try {
      await client.connect();
      if (!acceptsReadOnly) await assertWritable(client, SERVER_TIMEOUT_MS);
    } finally {
      socket.destroy();
    }
  });

  const Base: typeof Client = throughPooler ? UnnamedStatements : Client;
  class PoolClient extends Base {
    /** To close the connection at once, whereas `end` sends a message first. */
    readonly socket: Socket;

    constructor(options?: string | ClientConfig) {
      const socket = new Socket();
      const given = typeof options === 'string' ? { connectionString: options } : options;
      super({ ...given, stream: () => socket });
      this.socket = socket;
      // A lost connection emits 'error'. Its statement fails anyway; without a listener, the event would end the process.
      this.on('error', () => undefined);
    }

    override connect(): Promise<Client>;
    override connect(connected: Connected): void;
    override connect(connected?: Connected): Promise<Client> | void {
      const connecting = this.connectToWritable();
      if (connected === undefined) return connecting;
      connecting.then(() => connected(null, this), connected);
    }

    private async connectToWritable(): Promise<Client> {
      if (urls.length > 1) Object.assign(this, addressOf(await servers.find()));
      if (this.socket.destroyed)
        throw new ConnectionDroppedError('no connection to a writable database server in time');
      const connecting = super.connect();
      open.add(this);
      this.once('end', () => open.delete(this));
      try {
        await connecting;
        if (!acceptsReadOnly) await assertWritable(this, CHECK_TIMEOUT_MS);
      } catch (error) {
        this.socket.destroy();
        throw error;
      }
      return this;
    }
  }

  return {
    Client: PoolClient,
    drop(reason) {
      const dropped = [...open];
      if (dropped.length === 0) return;
      open.clear();
      servers.skip();
      for (const client of dropped) client.socket.destroy(new ConnectionDroppedError(reason));
    },
  };
}

const DEFAULT_PORT = 5_432;

function addressOf(url: string): Pick<Client, 'host' | 'port'> {
  const { hostname, port } = new URL(url);
  return { host: hostname.replace(/^\[(.+)\]$/, '$1'), port: Number(port || DEFAULT_PORT) };
}

/** A standby reports its transactions as read-only. PgBouncer passes the statement on. */
async function assertWritable(client: Client, timeoutMs: number): Promise<void> {
  const statement = { text: 'show transaction_read_only', query_timeout: timeoutMs };
  const { rows } = await client.query<{ transaction_read_only: string }>(statement);
  if (rows[0]?.transaction_read_only !== 'off') throw new ServerReadOnlyError();
}
