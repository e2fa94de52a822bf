import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';

/** One server of a target. */
export interface ServerAddress {
  /** `host:port`, with a numeric host. */
  readonly address: string;
  /** The name in its certificate. */
  readonly host: string;
}

/**
 * Resolves the servers of a target: `host:port`, or several separated by commas.
 * A name resolves to all its addresses. A headless service of Kubernetes has one
 * for each replica.
 */
export async function resolveTarget(target: string): Promise<ServerAddress[]> {
  const found = await Promise.all(
    target.split(',').map(async (part) => {
      const { host, port } = splitTarget(part.trim());
      if (isIP(host) !== 0) return [{ address: joinTarget(host, port), host }];
      const addresses = await lookup(host, { all: true, verbatim: true });
      return addresses.map((each) => ({ address: joinTarget(each.address, port), host }));
    }),
  );
  return found.flat();
}

/** Throws if the target is not a list of `host:port`, to detect mistakes at startup. */
export function checkTarget(target: string): void {
  for (const part of target.split(',')) splitTarget(part.trim());
}

function splitTarget(part: string): { host: string; port: string } {
  const match = /^(?:\[([0-9a-f:.]+)\]|([^:/\s]+)):(\d{1,5})$/i.exec(part);
  const host = match?.[1] ?? match?.[2];
  const port = match?.[3];
  if (host === undefined || port === undefined || Number(port) > 65_535) {
    throw new RangeError(`"${part}" is not of the form host:port`);
  }
  return { host, port };
}

function joinTarget(host: string, port: string): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
