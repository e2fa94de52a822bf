import { DEFAULT_IDENTITY_DOMAIN } from '@gateway/contracts/callers';
import { telemetryEnvironment } from '@gateway/telemetry';
import { flagSetting, logLevelSetting, millisecondsSetting, portSetting } from '@gateway/runtime';
import { z } from 'zod';

/** With the 15 seconds for closing resources, such a service stops within 30, even if a datastore does not respond. */
const SHORT_CALLS_GRACE_MS = 5_000;
const GENERATIONS_GRACE_MS = 30_000;

const shutdownGraceSetting = (defaultMs: number) =>
  millisecondsSetting
    .default(defaultMs)
    .describe(
      'Milliseconds that running requests have to finish after SIGTERM. Give the orchestrator 15 seconds more.',
    );

/** Settings of every service of a cluster. */
export const serviceSettings = {
  GATEWAY_HOST: z.string().default('0.0.0.0').describe('Address on which all servers of the process listen.'),
  GATEWAY_RPC_PORT: portSetting
    .default(50_051)
    .describe('Port of the gRPC server. edge-proxy and dashboard-api serve no gRPC.'),
  GATEWAY_RPC_ADMIN_PORT: portSetting
    .default(50_052)
    .describe(
      'Port of the gRPC server for dashboard-api. edge-proxy and inference-router need no access to it.',
    ),
  GATEWAY_ADMIN_PORT: portSetting.default(8_082).describe('Port of `/livez`, `/readyz` and `/metrics`.'),
  GATEWAY_RPC_SECURITY: z
    .enum(['mtls', 'plaintext'])
    .default('mtls')
    .describe(
      '`mtls`: each service shows a certificate with its name, and each method is open only to the services that may call it. `plaintext`: anyone who reaches a port of a service may charge any organization, call models at any price and read usage. For trials only.',
    ),
  GATEWAY_RPC_TLS_DIR: z
    .string()
    .default('/etc/gateway/rpc-tls')
    .describe(
      'Folder with the `ca.crt`, `tls.crt` and `tls.key` of this service. Renewed files are loaded without a restart.',
    ),
  GATEWAY_RPC_TLS_DOMAIN: z
    .string()
    .default(DEFAULT_IDENTITY_DOMAIN)
    .describe('Certificates name a service as a DNS name in this domain: `auth.inference-gateway.internal`.'),
  GATEWAY_ACTOR_KEYS_DIR: z
    .string()
    .default('/etc/gateway/actor-keys')
    .describe(
      'Folder with the keys of signed assertions, which name the person behind a call: `actor-public-keys.json` for services that serve the dashboard, `actor-signing-keys.json` for dashboard-api. Changed files are loaded without a restart.',
    ),
  GATEWAY_RPC_REFLECTION: flagSetting
    .default(false)
    .describe(
      'Serves gRPC reflection, for example to grpcurl. With `mtls` clients still need a certificate.',
    ),
  GATEWAY_SHUTDOWN_GRACE_MS: shutdownGraceSetting(SHORT_CALLS_GRACE_MS),
  LOG_LEVEL: logLevelSetting
    .default('info')
    .describe(
      '`trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`. Lines are JSON, or readable text on a terminal.',
    ),
  ...telemetryEnvironment,
};

/** In place of the setting of other services: streams of generations take longer than their calls. */
export const generationGraceSetting = {
  GATEWAY_SHUTDOWN_GRACE_MS: shutdownGraceSetting(GENERATIONS_GRACE_MS),
};

export type ServiceConfig = z.output<z.ZodObject<typeof serviceSettings>>;
