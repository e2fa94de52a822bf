import type { JsonResult, RequestClient } from '@gateway/admin-calls';
import type {
  Access,
  BodyOf,
  Endpoint,
  HeadersOf,
  JsonOf,
  parts,
  PathParameters,
  QueryOf,
} from '@gateway/dashboard-contract';
import type { Request, Response } from 'express';
import type { z } from 'zod';

/** The session of a request. */
type SignedIn = JsonOf<typeof parts.authorize>;
type ManagementToken = JsonOf<typeof parts.authorizeManagementToken>;

/** The person or management token of a request. */
export type Requester =
  | { readonly kind: 'person'; readonly signedIn: SignedIn }
  | { readonly kind: 'token'; readonly token: ManagementToken };

/** What authorizes a request. */
export interface AuthorizationInput {
  readonly access: Exclude<Access, 'anyone'>;
  readonly organizationId?: string;
  /** Whether the request changes something. */
  readonly changes: boolean;
  /** Whether the session must be confirmed recently. */
  readonly confirmed: boolean;
  readonly client: RequestClient;
}

/** The input of a handler: the validated request and its requester. */
export interface HandlerInput<Of extends Endpoint> {
  readonly params: PathParameters<Of['path']>;
  readonly query: QueryOf<Of>;
  readonly body: BodyOf<Of>;
  /** The body as it was sent, for the owner of the endpoint. */
  readonly sent: SentOf<Of>;
  readonly headers: HeadersOf<Of>;
  readonly client: RequestClient;
  /** Undefined for endpoints without a session, and for requests with a management token. */
  readonly signedIn: Of['access'] extends 'anyone'
    ? undefined
    : Of['access'] extends 'signed_in'
      ? SignedIn
      : SignedIn | undefined;
  /** Whether the requester has the permissions of operators. */
  readonly isOperator: boolean;
  readonly request: Request;
  /** For cookies, and for responses other than JSON, which the handler writes and ends itself. */
  readonly response: Response;
}

type SentOf<Of extends Endpoint> = Of['body'] extends z.ZodType ? z.input<Of['body']> : undefined;

/** Returns the endpoint's JSON; undefined for empty responses and those that it has written itself. */
export type Handler<Of extends Endpoint> = (input: HandlerInput<Of>) => Promise<JsonResult<Of>>;

export interface Implementation {
  readonly endpoint: Endpoint;
  readonly handler: (input: HandlerInput<Endpoint>) => Promise<unknown>;
}

/** Binds a handler to its endpoint and checks it against the endpoint's types. */
export function implement<Of extends Endpoint>(endpoint: Of, handler: Handler<Of>): Implementation {
  // The router validates the input with the schemas of this endpoint.
  return { endpoint, handler: handler as unknown as Implementation['handler'] };
}
