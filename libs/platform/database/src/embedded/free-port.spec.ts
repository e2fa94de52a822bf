import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { findFreePort } from './free-port';

describe('findFreePort', () => {
  it('gives the preferred one while nobody listens on it, else another', async () => {
    const preferred = await findFreePort();
    expect(await findFreePort(preferred)).toBe(preferred);
    const squatter = createServer().listen(preferred, '127.0.0.1');
    await once(squatter, 'listening');
    expect(await findFreePort(preferred)).not.toBe(preferred);
    squatter.close();
  });

  it('gives each once, and none that the system gives to whoever asks for any', async () => {
    const ports = await Promise.all(Array.from({ length: 200 }, () => findFreePort()));
    expect(new Set(ports).size).toBe(200);
    const any = createServer().listen(0, '127.0.0.1');
    await once(any, 'listening');
    const { port } = any.address() as AddressInfo;
    any.close();
    expect(Math.max(...ports)).toBeLessThan(port);
  });
});
