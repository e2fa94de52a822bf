import type { z } from 'zod';
import type { DashboardErrorCode } from './errors';
import type { Permission } from './permissions';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * The access rule of an endpoint: anyone, any signed-in person for their own data, any person or
 * management token ("authenticated"), or holders of a permission. A permission without the "platform:"
 * prefix applies to the organization in the path.
 */
export type Access = 'anyone' | 'signed_in' | 'authenticated' | Permission;

/** The services that implement endpoints. dashboard-api forwards requests to them. */
export const OWNERS = ['auth', 'billing-ledger', 'generation-query', 'inference-router'] as const;

export type Owner = (typeof OWNERS)[number];

/** Changes that edges must apply return once every edge has applied them, which takes at most one lease. */
export const EDGE_CHANGE_TIMEOUT_MS = 20_000;

/** Password hashing is slow and may be queued. */
export const HASHING_TIMEOUT_MS = 15_000;
/** The mail server has a timeout of its own, which is shorter. */
export const EMAIL_TIMEOUT_MS = 20_000;

/** The response of an endpoint on success. */
export type EndpointResponse =
  | JsonResponse<z.ZodType>
  | { readonly kind: 'no_content'; readonly status: 204 }
  | { readonly kind: 'redirect'; readonly status: 303 }
  /** Written in chunks, as files and server-sent events are. */
  | { readonly kind: 'stream'; readonly status: 200; readonly mediaType: string };

export interface JsonResponse<Schema extends z.ZodType> {
  readonly kind: 'json';
  readonly status: 200 | 201;
  readonly schema: Schema;
}

/**
 * One endpoint: the source of its route, request validation, handler types, browser client and documentation.
 *
 * Every endpoint that is not GET accepts only JSON from the dashboard's own origin.
 */
export interface Endpoint {
  readonly method: Method;
  /** Path parameters are in braces; `pathParameters` describes them. Paths below /internal are not routed. */
  readonly path: `/api/${string}` | `/internal/${string}`;
  /** The service that implements it, and checks its access. Absent: dashboard-api, from calls of several services. */
  readonly owner?: Owner;
  /** How long the owner may take. Default: 5 seconds. */
  readonly timeoutMs?: number;
  /** One line, for the documentation. */
  readonly summary: string;
  /** Sentences for the documentation. */
  readonly description?: string;
  readonly access: Access;
  /** A sensitive change: auth requires that the session was confirmed by password or code recently. */
  readonly confirmed?: true;
  /** Unknown parameters are errors. */
  readonly query?: z.ZodObject;
  /** Absent: no body, or `{}`. Unknown fields are errors. */
  readonly body?: z.ZodType<object>;
  /** The headers that the handler reads, by lower-case name. */
  readonly headers?: z.ZodObject;
  readonly response: EndpointResponse;
  /**
   * Whether its JSON is compressed for clients that accept it. Never for responses with secrets: their
   * compressed length would reveal how similar a secret is to text that an attacker chose (BREACH).
   */
  readonly compressed?: true;
  /** The audit actions that it records; absent for endpoints that only read. */
  readonly audit?: readonly `${string}.${string}`[];
  /** Errors other than those that follow from access, path, query and body. */
  readonly errors?: readonly DashboardErrorCode[];
}

/** Preserves the literal types of a description. */
export function endpoint<const Described extends Endpoint>(described: Described): Described {
  return described;
}

export function json<Schema extends z.ZodType>(
  schema: Schema,
): JsonResponse<Schema> & { readonly status: 200 } {
  return { kind: 'json', status: 200, schema };
}

export function created<Schema extends z.ZodType>(
  schema: Schema,
): JsonResponse<Schema> & { readonly status: 201 } {
  return { kind: 'json', status: 201, schema };
}

export const noContent = { kind: 'no_content', status: 204 } as const;
export const redirect = { kind: 'redirect', status: 303 } as const;

export function stream<const MediaType extends string>(mediaType: MediaType) {
  return { kind: 'stream', status: 200, mediaType } as const;
}

/** The name of an endpoint, such as "GET /api/session". */
export type EndpointNameOf<Of extends Endpoint> = Of extends Endpoint
  ? `${Of['method']} ${Of['path']}`
  : never;

export function nameOf({ method, path }: Endpoint): string {
  return `${method} ${path}`;
}

/** The path parameters, as strings. */
export type PathParameters<Path extends string> = {
  readonly [Name in NamesIn<Path>]: string;
};

type NamesIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NamesIn<Rest>
  : never;

/** The names of the path parameters, in order. */
export function namesIn(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
}

/** The validated input of an endpoint's handler. */
export type QueryOf<Of extends Endpoint> = OutputOf<Of['query']>;
export type BodyOf<Of extends Endpoint> = OutputOf<Of['body']>;
export type HeadersOf<Of extends Endpoint> = OutputOf<Of['headers']>;
/** The JSON that the handler returns and the client receives; undefined for other responses. */
export type JsonOf<Of extends Endpoint> =
  Of['response'] extends JsonResponse<infer Schema> ? z.output<Schema> : undefined;

type OutputOf<Schema> = Schema extends z.ZodType ? z.output<Schema> : Record<never, never>;
