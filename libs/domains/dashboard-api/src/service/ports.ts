import type { Clock } from '@gateway/base';
import type { AuthAdminDefinition, OrganizationLimits } from '@gateway/contracts/auth';
import type {
  BillingLedgerAdminDefinition,
  BillingLedgerDefinition,
} from '@gateway/contracts/billing-ledger';
import type { DeadLettersDefinition } from '@gateway/contracts/events';
import type { GenerationReportsDefinition } from '@gateway/contracts/generation-query';
import type {
  InferenceRouterAdminDefinition,
  InferenceRouterDefinition,
  Model,
} from '@gateway/contracts/inference-router';
import type { Refusal } from '@gateway/errors';
import type { RpcClient } from '@gateway/rpc';
import type { Logger } from '@gateway/runtime';
import type { Registry } from 'prom-client';

export interface DashboardApiSettings {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /**
   * Where browsers see this API, such as "https://dashboard.example.com". With
   * https the session cookie is Secure. Absent: plain http, and on this machine only.
   */
  readonly publicOrigin?: string;
  /** Addresses and CIDR ranges whose X-Forwarded-For is believed. Default none. */
  readonly trustedProxies?: readonly string[];
  /** Of the gateway, as operators see it. */
  readonly version?: string | undefined;
  /** Where browsers reach the public API, with /v1; asked when it is needed, since its port may be picked at the start. */
  readonly publicApiUrl?: () => string;
  /** Where the documentation can be read, for the start page. */
  readonly documentationUrl?: string;
}

/** The documentation of the public API, served without authentication. */
export interface PublicDocuments {
  /** Holds openapi.json, and Swagger UI's swagger-ui-bundle.js and swagger-ui.css. */
  readonly folder: string;
}

/** The dashboard's pages. */
export interface WebApp {
  /** The built app: index.html, and files in assets/ whose names change with their content; .br and .gz beside them. */
  readonly folder: string;
}

/** Judges a body as the public API does, and says what it would hold; or why it would refuse it. */
export type EstimateRequest = (
  body: Readonly<Record<string, unknown>>,
  context: { readonly limits: OrganizationLimits | undefined; readonly models: readonly Model[] },
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
  readonly authAdmin: RpcClient<typeof AuthAdminDefinition>;
  readonly ledger: RpcClient<typeof BillingLedgerDefinition>;
  readonly generationReports: RpcClient<typeof GenerationReportsDefinition>;
  readonly ledgerAdmin: RpcClient<typeof BillingLedgerAdminDefinition>;
  readonly inferenceRouter: RpcClient<typeof InferenceRouterDefinition>;
  readonly routerAdmin: RpcClient<typeof InferenceRouterAdminDefinition>;
  /** What the public API would hold for a chat completion; absent: estimates are not offered. */
  readonly estimateRequest?: EstimateRequest;
  /** Who serves the dead letters of each consumer group, and says how far it is behind, by its name. */
  readonly deadLetters: ReadonlyMap<string, RpcClient<typeof DeadLettersDefinition>>;
  readonly clock: Clock;
  readonly newId: (prefix: string) => string;
  readonly log: Logger;
  readonly metrics: Registry;
  /** Served at /openapi.json and below /docs; absent: not served. */
  readonly documents?: PublicDocuments;
  /** Served at every path that is nobody else's; absent: a page that lists the endpoints is at /. */
  readonly webApp?: WebApp;
  readonly settings: DashboardApiSettings;
}
