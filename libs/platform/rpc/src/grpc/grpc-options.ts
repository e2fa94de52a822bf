import { ChannelCredentials, experimental, ServerCredentials, type ChannelOptions } from '@grpc/grpc-js';

/**
 * Mutual TLS: each side shows a certificate and accepts only what the given
 * authority has signed. All PEM.
 */
export interface RpcTls {
  readonly certificateAuthority: Buffer;
  readonly certificate: Buffer;
  readonly privateKey: Buffer;
  /** The name to expect in the server's certificate when it is not its host name. Clients only. */
  readonly serverName?: string;
}

const SERVER_KEEPALIVE_MS = 60_000;
/** A peer that vanished without a word has lost its streams ten seconds later. */
const CLIENT_KEEPALIVE_MS = 5_000;
const KEEPALIVE_TIMEOUT_MS = 5_000;
/** Callers connect anew after this long, so that a load balancer in between spreads them over new replicas. */
const MAX_CONNECTION_AGE_MS = 5 * 60_000;
/** Above the longest generation: a stream that is under way keeps its old connection. */
const MAX_CONNECTION_AGE_GRACE_MS = 60 * 60_000;
const FIRST_RECONNECT_MS = 100;
/** Callers are refused for as long as nobody tries a service that is back. */
const LAST_RECONNECT_MS = 1_000;

/** The same as files, which a server looks at again and again, so that certificates may be renewed. */
export interface RpcTlsFiles {
  readonly certificateAuthorityFile: string;
  readonly certificateFile: string;
  readonly privateKeyFile: string;
  /** How often; a minute when absent. */
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

export function serverOptions(maxMessageBytes: number): ChannelOptions {
  return {
    'grpc.max_send_message_length': maxMessageBytes,
    'grpc.max_receive_message_length': maxMessageBytes,
    'grpc.keepalive_time_ms': SERVER_KEEPALIVE_MS,
    'grpc.keepalive_timeout_ms': KEEPALIVE_TIMEOUT_MS,
    'grpc.max_connection_age_ms': MAX_CONNECTION_AGE_MS,
    'grpc.max_connection_age_grace_ms': MAX_CONNECTION_AGE_GRACE_MS,
    'grpc.enable_channelz': 0,
  };
}

export function clientOptions(maxMessageBytes: number, tls: RpcTls | undefined): ChannelOptions {
  return {
    'grpc.max_send_message_length': maxMessageBytes,
    'grpc.max_receive_message_length': maxMessageBytes,
    // A peer that vanished without a word is noticed while streams are open and between calls.
    'grpc.keepalive_time_ms': CLIENT_KEEPALIVE_MS,
    'grpc.keepalive_timeout_ms': KEEPALIVE_TIMEOUT_MS,
    'grpc.keepalive_permit_without_calls': 1,
    'grpc.initial_reconnect_backoff_ms': FIRST_RECONNECT_MS,
    'grpc.max_reconnect_backoff_ms': LAST_RECONNECT_MS,
    // A name with several addresses is spread over all of them.
    'grpc.service_config': JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] }),
    'grpc.service_config_disable_resolution': 1,
    // Internal traffic never takes the way out that a proxy variable names.
    'grpc.enable_http_proxy': 0,
    'grpc.enable_channelz': 0,
    ...(tls?.serverName === undefined
      ? {}
      : { 'grpc.ssl_target_name_override': tls.serverName, 'grpc.default_authority': tls.serverName }),
  };
}
