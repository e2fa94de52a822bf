import { createConnection, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { Transform } from 'node:stream';

/** A TCP proxy: a load balancer for several servers, or a network connection that tests can cut. */
export interface TcpRelay {
  readonly port: number;
  /** Passes nothing on and closes nothing, like a network that drops every packet. */
  cut(): void;
  /** Delivers data sent since the cut; forwards new connections again. */
  restore(): void;
  /** Resets every connection on both sides. */
  reset(): void;
  stop(): Promise<void>;
}

export interface TcpRelayOptions {
  /** 0 picks a free port. */
  readonly port?: number;
  /** Servers for new connections, used in turn; one that refuses is skipped. */
  readonly upstreams: () => readonly { readonly host: string; readonly port: number }[];
}

interface RelayedConnection {
  readonly client: Socket;
  /** Data from the client to the upstream. */
  readonly toUpstream: Transform;
  upstream: Socket | undefined;
}

const CLOSE_TIMEOUT_MS = 5_000;

export async function startTcpRelay({ port = 0, upstreams }: TcpRelayOptions): Promise<TcpRelay> {
  const connections = new Set<RelayedConnection>();
  /** Clients that connected while it was cut. */
  const waiting = new Set<Socket>();
  let isCut = false;
  let turn = 0;

  const server = createServer({ pauseOnConnect: true, noDelay: true, allowHalfOpen: true }, (client) => {
    client.on('error', () => client.destroy());
    if (!isCut) return relay(client);
    waiting.add(client);
    client.once('close', () => waiting.delete(client));
  });

  function relay(client: Socket): void {
    const candidates = upstreams();
    turn += 1;
    const connection: RelayedConnection = { client, toUpstream: deferredWrites(), upstream: undefined };
    connections.add(connection);
    client.once('close', () => {
      connections.delete(connection);
      connection.upstream?.destroy();
    });
    tryNext(0);

    function tryNext(attempts: number): void {
      const next = candidates[(turn + attempts) % candidates.length];
      if (next === undefined || attempts === candidates.length || client.destroyed)
        return void client.destroy();
      const upstream = createConnection({ ...next, noDelay: true, allowHalfOpen: true });
      connection.upstream = upstream;
      const onRefused = (): void => tryNext(attempts + 1);
      upstream.once('error', onRefused);
      upstream.once('connect', () => {
        upstream.off('error', onRefused);
        upstream.on('error', () => upstream.destroy());
        upstream.once('close', () => closeGracefully(client));
        connection.toUpstream.pipe(upstream).pipe(client);
        client.pipe(connection.toUpstream);
        if (isCut) pause(connection);
      });
    }
  }

  return {
    port: await listen(server, port),
    cut() {
      isCut = true;
      for (const connection of connections) pause(connection);
    },
    restore() {
      isCut = false;
      for (const { client, toUpstream, upstream } of connections) {
        if (upstream === undefined) continue;
        client.pipe(toUpstream);
        upstream.pipe(client);
      }
      for (const client of waiting) relay(client);
      waiting.clear();
    },
    reset() {
      for (const { client, upstream } of connections) {
        client.resetAndDestroy();
        upstream?.resetAndDestroy();
      }
    },
    async stop() {
      for (const { client } of connections) client.destroy();
      for (const client of waiting) client.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/**
 * Defers each write until pending reads are done. Writing to an upstream that has
 * closed destroys its socket, and with it a response that has not been read yet.
 */
function deferredWrites(): Transform {
  return new Transform({
    transform: (chunk: Buffer, _encoding, done) => void setImmediate(done, null, chunk),
  });
}

/**
 * Lets the last response arrive: destroying a socket while its peer is sending
 * would discard a response in flight.
 */
function closeGracefully(client: Socket): void {
  client.unpipe();
  client.resume();
  client.end();
  setTimeout(() => client.destroy(), CLOSE_TIMEOUT_MS).unref();
}

/** Stops reading both sides, so that neither notices even the other's close. */
function pause({ client, toUpstream, upstream }: RelayedConnection): void {
  if (upstream === undefined) return;
  client.unpipe(toUpstream);
  upstream.unpipe(client);
  client.pause();
  upstream.pause();
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}
