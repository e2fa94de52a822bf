import type { z } from 'zod';
import type { DashboardErrorCode } from './errors';
import type { Permission } from './permissions';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * Who may ask: anybody; whoever is signed in, about what is their own; or who
 * holds this permission, which auth decides. A permission that is not
 * "platform:…" is one in the organization that the path names.
 */
export type Who = 'anyone' | 'signed_in' | Permission;

/** What an endpoint answers when all went well. */
export type Answer =
  | JsonAnswer<z.ZodType>
  | { readonly kind: 'nothing'; readonly status: 204 }
  /** Somewhere else for the browser to go. */
  | { readonly kind: 'redirect'; readonly status: 303 }
  /** Written piece by piece, as a file or as server-sent events are. */
  | { readonly kind: 'stream'; readonly status: 200; readonly mediaType: string };

export interface JsonAnswer<Schema extends z.ZodType> {
  readonly kind: 'json';
  readonly status: 200 | 201;
  readonly schema: Schema;
}

/**
 * One endpoint, from which come its route, the validation of what it is sent,
 * the types of its handler and of the browser's client, and its documentation.
 *
 * All that change something (not GET) take JSON alone and from this origin
 * alone; that is one rule for all and not said again here.
 */
export interface Endpoint {
  readonly method: Method;
  /** With a name in braces for each part that varies; `pathParameters` describes the names. */
  readonly path: `/api/${string}`;
  /** One line, for the documentation. */
  readonly summary: string;
  /** What else there is to know: sentences for the documentation. */
  readonly description?: string;
  readonly who: Who;
  /** Unknown parameters are refused. */
  readonly query?: z.ZodObject;
  /** Absent: none, or `{}`. Unknown fields are refused. */
  readonly body?: z.ZodType<object>;
  /** Of these only; by their names in lower case. */
  readonly headers?: z.ZodObject;
  readonly answer: Answer;
  /** The entries that the audit log gets; absent where nothing is changed. */
  readonly audit?: readonly `${string}.${string}`[];
  /** What it is refused with beside that which follows from `who`, path, query and body. */
  readonly errors?: readonly DashboardErrorCode[];
}

/** Keeps the exact types of what is described. */
export function endpoint<const Described extends Endpoint>(described: Described): Described {
  return described;
}

export function json<Schema extends z.ZodType>(
  schema: Schema,
): JsonAnswer<Schema> & { readonly status: 200 } {
  return { kind: 'json', status: 200, schema };
}

/** Something was made. */
export function created<Schema extends z.ZodType>(
  schema: Schema,
): JsonAnswer<Schema> & { readonly status: 201 } {
  return { kind: 'json', status: 201, schema };
}

export const nothing = { kind: 'nothing', status: 204 } as const;
export const redirect = { kind: 'redirect', status: 303 } as const;

export function stream<const MediaType extends string>(mediaType: MediaType) {
  return { kind: 'stream', status: 200, mediaType } as const;
}

/** "GET /api/session": how an endpoint is named. */
export type LineOf<Of extends Endpoint> = Of extends Endpoint ? `${Of['method']} ${Of['path']}` : never;

/** The parts of a path that vary, as strings. */
export type PathParameters<Path extends string> = {
  readonly [Name in NamesIn<Path>]: string;
};

type NamesIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NamesIn<Rest>
  : never;

/** The names in braces, in their order. */
export function namesIn(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
}

/** What an endpoint's handler gets, after validation. */
export type QueryOf<Of extends Endpoint> = OutputOf<Of['query']>;
export type BodyOf<Of extends Endpoint> = OutputOf<Of['body']>;
export type HeadersOf<Of extends Endpoint> = OutputOf<Of['headers']>;
/** What its handler answers with and its client gets; undefined where there is no JSON. */
export type JsonOf<Of extends Endpoint> =
  Of['answer'] extends JsonAnswer<infer Schema> ? z.output<Schema> : undefined;

type OutputOf<Schema> = Schema extends z.ZodType ? z.output<Schema> : Record<never, never>;
