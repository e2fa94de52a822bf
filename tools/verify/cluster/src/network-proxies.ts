import { CALLS } from '@gateway/contracts/callers';
import { startTcpRelay, type TcpRelay } from '@gateway/dev-infra';
import { SERVICE_NAMES, type DatabaseName, type DatastoreAddresses, type ServiceName } from './services';

/** TCP proxies between the processes, which tests can cut. */
export interface NetworkProxies {
  readonly targetOf: (service: ServiceName, caller: ServiceName) => string;
  readonly datastores: DatastoreAddresses;
  /** Such as "edge-proxy → auth-1" or "rate-limit → redis". */
  readonly all: ReadonlyMap<string, TcpRelay>;
  stop(): Promise<void>;
}

const HOST = '127.0.0.1';

/** There is no proxy for Kafka, whose clients connect to the broker's advertised address. */
export async function openNetworkProxies(
  datastores: DatastoreAddresses,
  rpcPorts: (service: ServiceName, caller: ServiceName) => readonly number[],
): Promise<NetworkProxies> {
  const all = new Map<string, TcpRelay>();
  const openProxy = async (name: string, port: number): Promise<number> => {
    const relay = await startTcpRelay({ upstreams: () => [{ host: HOST, port }] });
    all.set(name, relay);
    return relay.port;
  };
  const targets = new Map<string, string>();
  for (const [caller, called] of callsOfCluster()) {
    const ports = await Promise.all(
      rpcPorts(called, caller).map((port, index) => openProxy(`${caller} → ${called}-${index + 1}`, port)),
    );
    targets.set(`${caller} ${called}`, ports.map((port) => `${HOST}:${port}`).join(','));
  }
  const through = async (name: string, address: string): Promise<string> => {
    const url = new URL(address);
    url.port = String(await openProxy(name, Number(url.port)));
    return url.toString();
  };
  const databases = await Promise.all(
    Object.entries(datastores.databases).map(
      async ([name, url]) => [name, await through(`${name} → PostgreSQL`, url)] as const,
    ),
  );
  return {
    all,
    targetOf: (service, caller) => {
      const target = targets.get(`${caller} ${service}`);
      if (target === undefined) throw new Error(`no network proxy from ${caller} to ${service}`);
      return target;
    },
    datastores: {
      ...datastores,
      databases: Object.fromEntries(databases) as Record<DatabaseName, string>,
      redisUrl: await through('rate-limit → Redis', datastores.redisUrl),
    },
    stop: async () => {
      await Promise.all([...all.values()].map((relay) => relay.stop()));
    },
  };
}

/** Callers and the services they call. */
function callsOfCluster(): readonly (readonly [ServiceName, ServiceName])[] {
  return SERVICE_NAMES.flatMap((caller) =>
    SERVICE_NAMES.filter((called) => CALLS[caller]?.includes(called)).map(
      (called) => [caller, called] as const,
    ),
  );
}
