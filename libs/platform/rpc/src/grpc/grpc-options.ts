import { ChannelCredentials, experimental, ServerCredentials, type ChannelOptions } from '@grpc/grpc-js';

/** Mutual TLS: each side presents a certificate signed by the given authority. All PEM. */
export interface RpcTls {
  readonly certificateAuthority: Buffer;
  readonly certificate: Buffer;
  readonly privateKey: Buffer;
  /** The expected name in the server's certificate, if it is not the host name. Clients only. */
  readonly serverName?: string;
}

const SERVER_KEEPALIVE_MS = 60_000;
/** Streams to a peer that vanished fail after ten seconds. */
const CLIENT_KEEPALIVE_MS = 5_000;
const KEEPALIVE_TIMEOUT_MS = 5_000;
const MIN_RECONNECT_BACKOFF_MS = 100;
/** Short, since calls fail until the client reconnects to a restarted service. */
const MAX_RECONNECT_BACKOFF_MS = 1_000;

/** Mutual TLS from files, which the server reloads so that certificates can be renewed. */
export interface RpcTlsFiles {
  readonly certificateAuthorityFile: string;
  readonly certificateFile: string;
  readonly privateKeyFile: string;
  /** Defaults to one minute. */
  readonly refreshIntervalMs?: number;
}

const TLS_REFRESH_INTERVAL_MS = 60_000;

export function serverCredentials(tls: RpcTls | RpcTlsFiles | undefined): ServerCredentials {
  if (tls === undefined) return ServerCredentials.createInsecure();
  if ('certificateFile' in tls) return credentialsOfFiles(tls);
  const identity = { cert_chain: tls.certificate, private_key: tls.privateKey };
  return ServerCredentials.createSsl(tls.certificateAuthority, [identity], true);
}

function credentialsOfFiles(files: RpcTlsFiles): ServerCredentials {
  const provider = new experimental.FileWatcherCertificateProvider({
    caCertificateFile: files.certificateAuthorityFile,
    certificateFile: files.certificateFile,
    privateKeyFile: files.privateKeyFile,
    refreshIntervalMs: files.refreshIntervalMs ?? TLS_REFRESH_INTERVAL_MS,
  });
  return experimental.createCertificateProviderServerCredentials(provider, provider, true);
}

export function channelCredentials(tls: RpcTls | undefined): ChannelCredentials {
  if (tls === undefined) return ChannelCredentials.createInsecure();
  return ChannelCredentials.createSsl(tls.certificateAuthority, tls.privateKey, tls.certificate);
}

/** Without a maximum age of connections: see `stop` of the server. */
export function serverOptions(maxMessageBytes: number): ChannelOptions {
  return {
    'grpc.max_send_message_length': maxMessageBytes,
    'grpc.max_receive_message_length': maxMessageBytes,
    'grpc.keepalive_time_ms': SERVER_KEEPALIVE_MS,
    'grpc.keepalive_timeout_ms': KEEPALIVE_TIMEOUT_MS,
    'grpc.enable_channelz': 0,
  };
}

export function clientOptions(maxMessageBytes: number, tls: RpcTls | undefined): ChannelOptions {
  return {
    'grpc.max_send_message_length': maxMessageBytes,
    'grpc.max_receive_message_length': maxMessageBytes,
    // Detect a vanished peer, also between calls.
    'grpc.keepalive_time_ms': CLIENT_KEEPALIVE_MS,
    'grpc.keepalive_timeout_ms': KEEPALIVE_TIMEOUT_MS,
    'grpc.keepalive_permit_without_calls': 1,
    'grpc.initial_reconnect_backoff_ms': MIN_RECONNECT_BACKOFF_MS,
    'grpc.max_reconnect_backoff_ms': MAX_RECONNECT_BACKOFF_MS,
    // Distribute streams over all addresses of a name.
    'grpc.service_config': JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] }),
    'grpc.service_config_disable_resolution': 1,
    // Internal traffic ignores the proxy variables of the environment.
    'grpc.enable_http_proxy': 0,
    'grpc.enable_channelz': 0,
    ...(tls?.serverName === undefined
      ? {}
      : { 'grpc.ssl_target_name_override': tls.serverName, 'grpc.default_authority': tls.serverName }),
  };
}
