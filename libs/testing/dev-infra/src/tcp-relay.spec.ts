import { once } from 'node:events';
import { createConnection, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { startTcpRelay, type TcpRelay } from './tcp-relay';

/** A server that echoes each message with its name as a prefix. */
async function startEcho(name: string): Promise<{ port: number; server: Server }> {
  const server = createServer((socket) => {
    socket.on('data', (data) => socket.write(`${name}:${data.toString()}`)).on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as AddressInfo).port, server };
}

const opened: { relay?: TcpRelay; servers: Server[]; sockets: Socket[] } = { servers: [], sockets: [] };

async function echoes(...names: string[]) {
  const started = await Promise.all(names.map(startEcho));
  opened.servers.push(...started.map(({ server }) => server));
  const ports = started.map(({ port }) => port);
  const upstreams = ports.map((port) => ({ host: '127.0.0.1', port }));
  const relay = await startTcpRelay({ upstreams: () => upstreams });
  opened.relay = relay;
  return { relay, started };
}

function connect(relay: TcpRelay): Socket {
  const socket = createConnection({ host: '127.0.0.1', port: relay.port }).on('error', () => undefined);
  opened.sockets.push(socket);
  return socket;
}

async function send(socket: Socket, text: string): Promise<string> {
  socket.write(text);
  const [data] = (await once(socket, 'data')) as [Buffer];
  return data.toString();
}

afterEach(async () => {
  for (const socket of opened.sockets.splice(0)) socket.destroy();
  await opened.relay?.stop();
  for (const server of opened.servers.splice(0)) server.close();
});

describe('the relay', () => {
  it('connects clients to the servers in turn', async () => {
    const { relay } = await echoes('a', 'b');
    const replies = [await send(connect(relay), '1'), await send(connect(relay), '2')];
    expect(replies.map((reply) => reply[0]).sort()).toEqual(['a', 'b']);
  });

  it('skips a server that refuses connections', async () => {
    const { relay, started } = await echoes('a', 'b');
    started[0]?.server.close();
    for (let n = 0; n < 3; n += 1) expect(await send(connect(relay), 'x')).toBe('b:x');
  });

  it('passes nothing on while it is cut, and everything after it is restored', async () => {
    const { relay } = await echoes('a');
    const before = connect(relay);
    expect(await send(before, '1')).toBe('a:1');
    relay.cut();
    const after = connect(relay);
    const received: string[] = [];
    for (const socket of [before, after]) socket.on('data', (data) => received.push(data.toString()));
    before.write('2');
    after.write('3');
    await once(after, 'connect');
    // A completed round trip on another connection shows that data had time to arrive.
    const other = await startTcpRelay({ upstreams: () => [{ host: '127.0.0.1', port: portOf(opened) }] });
    expect(await send(connect(other), 'x')).toBe('a:x');
    await other.stop();
    expect(received).toEqual([]);
    relay.restore();
    while (received.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(received.sort()).toEqual(['a:2', 'a:3']);
  });

  it('delivers the last response of a server that closes before it has read everything', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.end('enough'));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    opened.servers.push(server);
    const upstream = { host: '127.0.0.1', port: portOf(opened) };
    opened.relay = await startTcpRelay({ upstreams: () => [upstream] });
    const socket = connect(opened.relay);
    socket.write(Buffer.alloc(8 * 1024 * 1024));
    let received = '';
    socket.on('data', (data) => (received += data.toString()));
    await new Promise((resolve) => socket.once('end', resolve));
    expect(received).toBe('enough');
  });

  it('resets every connection', async () => {
    const { relay } = await echoes('a');
    const socket = connect(relay);
    await send(socket, '1');
    const closed = new Promise<boolean>((resolve) => socket.once('close', resolve));
    relay.reset();
    expect(await closed).toBe(true);
  });
});

function portOf({ servers }: { servers: Server[] }): number {
  return (servers[0]?.address() as AddressInfo).port;
}
