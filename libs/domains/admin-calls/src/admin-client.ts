import { AdminDefinition } from '@gateway/contracts/admin';
import {
  DashboardError,
  dashboardErrors,
  nameOf,
  type DashboardErrorCode,
  type Endpoint,
  type HeadersOf,
  type JsonOf,
  type PathParameters,
} from '@gateway/dashboard-contract';
import { createClient, type CallOptions, type RpcTransport } from '@gateway/rpc';
import type { z } from 'zod';

/** The browser or script that sent a request. */
export interface RequestClient {
  /** In canonical form; empty when it cannot be read. */
  readonly ipAddress: string;
  /** The User-Agent header. */
  readonly device: string;
  /** The dashboard's URL, for links. */
  readonly dashboardUrl: string;
}

/** A request as it was sent; the owner checks it. */
export interface RawInput {
  /** Default: unknown. */
  readonly client?: RequestClient;
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: unknown;
  readonly body?: unknown;
  readonly headers?: unknown;
}

type SentOf<Schema> = Schema extends z.ZodType ? z.input<Schema> : undefined;
type FieldOf<Of, Name extends string> = Of extends { readonly [Key in Name]: infer Value }
  ? SentOf<Value>
  : undefined;
type Field<Name extends string, Value> = [Value] extends [undefined]
  ? { readonly [Key in Name]?: undefined }
  : Record<never, never> extends Value
    ? { readonly [Key in Name]?: Value }
    : { readonly [Key in Name]: Value };

/** The parts of a request that the endpoint needs. */
export type CallInput<Of extends Endpoint> = Field<
  'params',
  keyof PathParameters<Of['path']> extends never ? undefined : PathParameters<Of['path']>
> &
  Field<'query', FieldOf<Of, 'query'>> &
  Field<'body', FieldOf<Of, 'body'>> &
  Field<'headers', keyof HeadersOf<Of> extends never ? undefined : HeadersOf<Of>> &
  Pick<RawInput, 'client'>;

type CallArguments<Of extends Endpoint> =
  Record<never, never> extends CallInput<Of>
    ? [input?: CallInput<Of>, options?: CallOptions]
    : [input: CallInput<Of>, options?: CallOptions];

/** Calls the endpoints of one owner. */
export interface AdminClient {
  /** @throws DashboardError for a refusal of the owner. */
  call<Of extends Endpoint>(endpoint: Of, ...args: CallArguments<Of>): Promise<JsonOf<Of>>;
  /** The same with unchecked input: returns the JSON as text, empty without a body. */
  forward(endpoint: Endpoint, input: RawInput, options?: CallOptions): Promise<string>;
}

/** @param transport reaches the owner. */
export function createAdminClient(transport: RpcTransport): AdminClient {
  const admin = createClient(AdminDefinition, transport);

  async function forward(endpoint: Endpoint, input: RawInput, options?: CallOptions): Promise<string> {
    const { client, ...sent } = input;
    const { organization_id: organizationId, ...params } = sent.params ?? {};
    const send = endpoint.method === 'GET' ? admin.read : admin.change;
    const { timeoutMs } = endpoint;
    const { outcome } = await send(
      { endpoint: nameOf(endpoint), organizationId, inputJson: JSON.stringify({ ...sent, params }), client },
      { ...(timeoutMs !== undefined && { timeoutMs }), ...options },
    );
    if (outcome?.$case === 'json') return outcome.value;
    if (outcome === undefined) throw new Error('the response has no outcome');
    const { code, message, param, metadataJson, retryAfterMs } = outcome.value;
    throw new DashboardError(codeOf(code), {
      message,
      metadata: JSON.parse(metadataJson) as Readonly<Record<string, unknown>>,
      param,
      retryAfterMs,
    });
  }

  return {
    forward,
    async call(endpoint, ...[input = {}, options]) {
      const json = await forward(endpoint, input as RawInput, options);
      return (json === '' ? undefined : JSON.parse(json)) as JsonOf<typeof endpoint>;
    },
  };
}

/** An owner of a later version may have other codes. */
function codeOf(code: string): DashboardErrorCode {
  return Object.hasOwn(dashboardErrors, code) ? (code as DashboardErrorCode) : 'internal';
}
