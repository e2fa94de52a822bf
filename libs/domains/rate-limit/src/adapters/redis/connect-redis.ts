import type { ConnectionOptions } from 'node:tls';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { parseRedisUrl, type ClusterTarget, type SentinelTarget, type SingleTarget } from './redis-url';

export interface RedisConnectionOptions {
  /** As `parseRedisUrl` describes: one endpoint, Sentinels, or a Redis Cluster. */
  readonly url: string;
  /** Called when a connection is lost. ioredis reconnects automatically. */
  readonly onError?: (error: Error) => void;
  /** A command without a response fails after this long, but may still run. Default 500 ms. */
  readonly commandTimeoutMs?: number;
  /** Such as the certificate authority, for `rediss` URLs. */
  readonly tls?: ConnectionOptions;
}

export type RedisConnection = Redis | Cluster;

export const DEFAULT_COMMAND_TIMEOUT_MS = 500;
/** As `CLIENT LIST` shows it. */
export const CONNECTION_NAME = 'gateway-rate-limit';
const CONNECT_TIMEOUT_MS = 2_000;
const MAX_RECONNECT_DELAY_MS = 1_000;
const RECONNECT_STEP_MS = 50;
/** A connection without any response for this many command timeouts is closed. */
const SILENT_TIMEOUTS = 2;
/** Bounds the repetition of a command that a cluster redirects, or whose node is lost. */
const MAX_REDIRECTIONS = 5;
const REDIRECTION_DELAY_MS = 50;
/** Also corrects the view of a cluster without traffic. */
const SLOTS_REFRESH_MS = 5_000;

/**
 * Replies of a server that cannot serve this connection any more, or not yet: a
 * new connection may reach the current primary. Scripts have the code within
 * their error before Redis 7.
 */
const WRONG_SERVER = /(^|[\s-])(READONLY|LOADING|MASTERDOWN)\b/;
/** Replies that are normal in a cluster, and show a plain URL that leads to one. */
const CLUSTER_REPLY = /^-?(MOVED|ASK|CLUSTERDOWN)\b/;

/**
 * A connection for decisions in the request path: a command that cannot be sent
 * now, or gets no response in time, fails instead of running much later. After a
 * failover it leaves the old primary. Close it with `disconnect`.
 */
export function connectRedis({
  url,
  onError = () => undefined,
  commandTimeoutMs = DEFAULT_COMMAND_TIMEOUT_MS,
  tls = {},
}: RedisConnectionOptions): RedisConnection {
  const target = parseRedisUrl(url);
  const { username, password } = target;
  const options: RedisOptions = {
    commandTimeout: commandTimeoutMs,
    connectTimeout: Math.max(CONNECT_TIMEOUT_MS, commandTimeoutMs),
    socketTimeout: SILENT_TIMEOUTS * commandTimeoutMs,
    connectionName: CONNECTION_NAME,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(target.tls && { tls }),
  };
  const redis = target.form === 'cluster' ? connectCluster(target, options) : connectPrimary(target, options);
  redis.on('error', onError);
  return redis;
}

function connectPrimary(target: SingleTarget | SentinelTarget, shared: RedisOptions): Redis {
  let isLeaving = false;
  const redis = new Redis({
    ...shared,
    ...(target.form === 'single' ? target.address : sentinelOptions(target, shared)),
    db: target.database,
    enableOfflineQueue: false,
    retryStrategy: reconnectDelay,
    // Once for each connection, since every command in flight gets such a reply.
    reconnectOnError: ({ message }) => {
      if (isLeaving || !(WRONG_SERVER.test(message) || CLUSTER_REPLY.test(message))) return false;
      isLeaving = true;
      return true;
    },
  });
  // ioredis does not stop this timer with its connection; it would close the next one.
  redis.on('close', () => {
    isLeaving = false;
    const own = redis as unknown as { socketTimeoutTimer: NodeJS.Timeout | undefined };
    clearTimeout(own.socketTimeoutTimer);
    own.socketTimeoutTimer = undefined;
  });
  keepConnecting(redis);
  return redis;
}

/**
 * ioredis gives a connection up when Sentinel reports a failover while it
 * connects. Such an end is not that of `disconnect`.
 */
function keepConnecting(redis: Redis): void {
  let isClosed = false;
  const disconnect = redis.disconnect.bind(redis);
  redis.disconnect = (reconnect = false) => {
    isClosed ||= !reconnect;
    disconnect(reconnect);
  };
  redis.on('end', () => {
    if (isClosed) return;
    setTimeout(() => {
      if (!isClosed) redis.connect().catch(() => undefined);
    }, RECONNECT_STEP_MS);
  });
}

function sentinelOptions(target: SentinelTarget, shared: RedisOptions): RedisOptions {
  const { sentinelUsername, sentinelPassword } = target;
  return {
    sentinels: target.sentinels.map((address) => ({ ...address })),
    name: target.masterName,
    role: 'master',
    // Subscribes to the Sentinels, and reconnects as soon as they announce another primary.
    failoverDetector: true,
    sentinelCommandTimeout: shared.connectTimeout ?? CONNECT_TIMEOUT_MS,
    sentinelRetryStrategy: reconnectDelay,
    sentinelReconnectStrategy: reconnectDelay,
    ...(sentinelUsername !== undefined && { sentinelUsername }),
    ...(sentinelPassword !== undefined && { sentinelPassword }),
    ...(shared.tls && { sentinelTLS: shared.tls, enableTLSForSentinelMode: true }),
  };
}

function connectCluster({ nodes }: ClusterTarget, redisOptions: RedisOptions): Cluster {
  const cluster = new Cluster(
    nodes.map((address) => ({ ...address })),
    {
      redisOptions: {
        ...redisOptions,
        // The cluster replaces a node whose connection is closed, and follows redirections itself.
        reconnectOnError: ({ message }) => WRONG_SERVER.test(message),
      },
      enableOfflineQueue: false,
      clusterRetryStrategy: reconnectDelay,
      maxRedirections: MAX_REDIRECTIONS,
      retryDelayOnFailover: REDIRECTION_DELAY_MS,
      retryDelayOnClusterDown: REDIRECTION_DELAY_MS,
      retryDelayOnTryAgain: REDIRECTION_DELAY_MS,
      slotsRefreshTimeout: redisOptions.connectTimeout ?? CONNECT_TIMEOUT_MS,
      slotsRefreshInterval: SLOTS_REFRESH_MS,
      // Connects by the names of the URL, which are those of the certificates.
      dnsLookup: (address, done) => done(null, address),
    },
  );
  // Connects at once: a command would otherwise wait for the connection to its node.
  cluster.on('+node', (node: Redis) => {
    if (node.options.readOnly !== true) node.connect().catch(() => undefined);
  });
  return cluster;
}

function reconnectDelay(attempt: number): number {
  return Math.min(attempt * RECONNECT_STEP_MS, MAX_RECONNECT_DELAY_MS);
}
