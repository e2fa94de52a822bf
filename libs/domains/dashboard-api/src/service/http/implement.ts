import type { Member, OrganizationRole, Session } from '@gateway/contracts/auth';
import type {
  BodyOf,
  Endpoint,
  HeadersOf,
  JsonOf,
  PathParameters,
  QueryOf,
} from '@gateway/dashboard-contract';
import type { Request, Response } from 'express';

/** The session of a request. */
export interface SignedIn {
  readonly session: Session;
  readonly member: Member;
  readonly sessionToken: string;
  /** The member's role in the organization of the request, if any. */
  readonly organizationRole: OrganizationRole | undefined;
}

/** The input of a handler: the validated request and its session. */
export interface HandlerInput<Of extends Endpoint> {
  readonly params: PathParameters<Of['path']>;
  readonly query: QueryOf<Of>;
  readonly body: BodyOf<Of>;
  readonly headers: HeadersOf<Of>;
  /** The client's address in canonical form; empty when none can be read. */
  readonly address: string;
  /** Undefined for endpoints without a session. */
  readonly signedIn: Of['access'] extends 'anyone' ? undefined : SignedIn;
  readonly request: Request;
  /** For cookies, and for responses other than JSON, which the handler writes and ends itself. */
  readonly response: Response;
}

/** Returns the endpoint's JSON; undefined for empty responses and those that it has written itself. */
export type Handler<Of extends Endpoint> = (input: HandlerInput<Of>) => Promise<ReadonlyDeep<JsonOf<Of>>>;

/** Handlers may return readonly values. */
type ReadonlyDeep<Value> = Value extends readonly (infer Item)[]
  ? readonly ReadonlyDeep<Item>[]
  : Value extends object
    ? { readonly [Key in keyof Value]: ReadonlyDeep<Value[Key]> }
    : Value;

export interface Implementation {
  readonly endpoint: Endpoint;
  readonly handler: (input: HandlerInput<Endpoint>) => Promise<unknown>;
}

/** Binds a handler to its endpoint and checks it against the endpoint's types. */
export function implement<Of extends Endpoint>(endpoint: Of, handler: Handler<Of>): Implementation {
  // The router validates the input with the schemas of this endpoint.
  return { endpoint, handler: handler as unknown as Implementation['handler'] };
}
