import type { AdminClient } from '@gateway/admin-calls';
import type { Clock, TargetRules } from '@gateway/base';
import type { AuditLogDefinition } from '@gateway/contracts/audit';
import type { DeadLettersDefinition } from '@gateway/contracts/events';
import type { InferenceRouterDefinition, Model } from '@gateway/contracts/inference-router';
import type { JsonOf, Owner, parts } from '@gateway/dashboard-contract';
import type { Refusal } from '@gateway/errors';
import type { TlsFiles } from '@gateway/http-server';
import type { InferenceApi } from '@gateway/public-api';
import type { RpcClient } from '@gateway/rpc';
import type { Logger } from '@gateway/runtime';
import type { Registry } from 'prom-client';

type OrganizationLimits = JsonOf<typeof parts.effectiveLimits>['limits'];

export interface DashboardApiSettings {
  readonly host: string;
  /** 0 chooses a free port. */
  readonly port: number;
  /** HTTPS without a proxy. Absent: HTTP. */
  readonly tls?: TlsFiles | undefined;
  /** The dashboard's public origin, such as "https://dashboard.example.com". Absent: loopback names only. */
  readonly publicOrigin?: string;
  /** Addresses and CIDR ranges whose X-Forwarded-For header is trusted. Default: none. */
  readonly trustedProxies?: readonly string[];
  /** The gateway's version, shown to operators. */
  readonly version?: string | undefined;
  /**
   * The public API's URL for browsers, with /v1; evaluated on use, since the port may be chosen at
   * startup.
   */
  readonly publicApiUrl?: () => string;
  /** The APIs that the edge serves in addition to chat completions. */
  readonly inferenceApis?: readonly InferenceApi[];
  /** The URL of the documentation, for the start page. */
  readonly documentationUrl?: string;
}

/** The documentation of the public API, served without authentication. */
export interface PublicDocuments {
  /** Contains openapi.json, swagger-ui-bundle.js and swagger-ui.css. */
  readonly folder: string;
}

/** The built web app. */
export interface WebApp {
  /**
   * Contains index.html, files with content hashes in assets/, and their precompressed .br and .gz
   * versions.
   */
  readonly folder: string;
}

/** Validates a request as the public API does, and returns the credit that it would hold or the refusal. */
export type EstimateRequest = (
  body: Readonly<Record<string, unknown>>,
  context: {
    /** Organizations take turns. */
    readonly organizationId: string;
    readonly limits: Pick<OrganizationLimits, 'max_output_tokens' | 'multiple_completions'>;
    readonly targetRules: TargetRules;
    readonly models: readonly Model[];
  },
) => Promise<
  | {
      readonly estimatedInputTokens: number;
      /** Per completion. */
      readonly maxOutputTokens: number;
      readonly heldCostNanoUsd: bigint;
    }
  | Refusal
>;

export interface DashboardApiPorts {
  readonly owners: Readonly<Record<Owner, AdminClient>>;
  readonly inferenceRouter: RpcClient<typeof InferenceRouterDefinition>;
  /** Absent: cost estimates are unavailable. */
  readonly estimateRequest?: EstimateRequest;
  /** The services with audit logs of their own. */
  readonly auditLogs: readonly RpcClient<typeof AuditLogDefinition>[];
  /** The services with the dead letters and the lag of each consumer group, by group name. */
  readonly deadLetters: ReadonlyMap<string, RpcClient<typeof DeadLettersDefinition>>;
  readonly clock: Clock;
  readonly newId: (prefix: string) => string;
  readonly log: Logger;
  readonly metrics: Registry;
  /** Served at /openapi.json and below /docs; absent: not served. */
  readonly documents?: PublicDocuments;
  /** Served at every other path; absent: `/` lists the endpoints. */
  readonly webApp?: WebApp;
  readonly settings: DashboardApiSettings;
}
