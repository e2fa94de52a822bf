import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { findFreePort } from './free-port';

describe('findFreePort', () => {
  it('returns the preferred port if it is free, else another', async () => {
    const preferred = await findFreePort();
    expect(await findFreePort(preferred)).toBe(preferred);
    const occupant = createServer().listen(preferred, '127.0.0.1');
    await once(occupant, 'listening');
    expect(await findFreePort(preferred)).not.toBe(preferred);
    occupant.close();
  });

  it('returns each port once, and none of the ephemeral range', async () => {
    const ports = await Promise.all(Array.from({ length: 1_000 }, () => findFreePort()));
    expect(new Set(ports).size).toBe(1_000);
    const ephemeral = createServer().listen(0, '127.0.0.1');
    await once(ephemeral, 'listening');
    const { port } = ephemeral.address() as AddressInfo;
    ephemeral.close();
    expect(Math.max(...ports)).toBeLessThan(port);
  });
});
