import { createConnection, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { Transform } from 'node:stream';

/** Passes connections on: a balancer before several servers, or a wire between two that can be cut. */
export interface TcpRelay {
  readonly port: number;
  /** Nothing gets through any more, and nobody is told: as a network that loses every packet. */
  cut(): void;
  /** What was sent since arrives; new connections are passed on again. */
  heal(): void;
  /** Ends every connection through it, at once and on both sides. */
  reset(): void;
  stop(): Promise<void>;
}

export interface TcpRelayOptions {
  /** 0 picks a free one. */
  readonly port?: number;
  /** Who takes new connections now, each in turn; one that refuses is passed over. */
  readonly upstreams: () => readonly { readonly host: string; readonly port: number }[];
}

interface Passage {
  readonly client: Socket;
  /** What the client said, on its way to the upstream. */
  readonly said: Transform;
  upstream: Socket | undefined;
}

const LET_GO_MS = 5_000;

export async function startTcpRelay({ port = 0, upstreams }: TcpRelayOptions): Promise<TcpRelay> {
  const passages = new Set<Passage>();
  /** Who came while it was cut. */
  const waiting = new Set<Socket>();
  let isCut = false;
  let turn = 0;

  const server = createServer({ pauseOnConnect: true, noDelay: true, allowHalfOpen: true }, (client) => {
    client.on('error', () => client.destroy());
    if (!isCut) return pass(client);
    waiting.add(client);
    client.once('close', () => waiting.delete(client));
  });

  function pass(client: Socket): void {
    const candidates = upstreams();
    turn += 1;
    const passage: Passage = { client, said: afterAnswers(), upstream: undefined };
    passages.add(passage);
    client.once('close', () => {
      passages.delete(passage);
      passage.upstream?.destroy();
    });
    tryNext(0);

    function tryNext(tried: number): void {
      const next = candidates[(turn + tried) % candidates.length];
      if (next === undefined || tried === candidates.length || client.destroyed) return void client.destroy();
      const upstream = createConnection({ ...next, noDelay: true, allowHalfOpen: true });
      passage.upstream = upstream;
      const onRefused = (): void => tryNext(tried + 1);
      upstream.once('error', onRefused);
      upstream.once('connect', () => {
        upstream.off('error', onRefused);
        upstream.on('error', () => upstream.destroy());
        upstream.once('close', () => letGo(client));
        passage.said.pipe(upstream).pipe(client);
        client.pipe(passage.said);
        if (isCut) hold(passage);
      });
    }
  }

  return {
    port: await listen(server, port),
    cut() {
      isCut = true;
      for (const passage of passages) hold(passage);
    },
    heal() {
      isCut = false;
      for (const { client, said, upstream } of passages) {
        if (upstream === undefined) continue;
        client.pipe(said);
        upstream.pipe(client);
      }
      for (const client of waiting) pass(client);
      waiting.clear();
    },
    reset() {
      for (const { client, upstream } of passages) {
        client.resetAndDestroy();
        upstream?.resetAndDestroy();
      }
    },
    async stop() {
      for (const { client } of passages) client.destroy();
      for (const client of waiting) client.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/**
 * Passes on what it gets once all that has arrived by now was read. A write to
 * an upstream that refuses the rest ends its socket at once, with an answer that
 * lies there unread.
 */
function afterAnswers(): Transform {
  return new Transform({
    transform: (chunk: Buffer, _encoding, done) => void setImmediate(done, null, chunk),
  });
}

/**
 * What was said last still arrives: a socket that is destroyed while its other
 * side is sending takes an answer along that is on its way.
 */
function letGo(client: Socket): void {
  client.unpipe();
  client.resume();
  client.end();
  setTimeout(() => client.destroy(), LET_GO_MS).unref();
}

/** Neither side is read any more, so neither hears of the other, not even of its end. */
function hold({ client, said, upstream }: Passage): void {
  if (upstream === undefined) return;
  client.unpipe(said);
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
