import type { Actor, Member, Session } from '@gateway/contracts/auth';
import type {
  BodyOf,
  Endpoint,
  HeadersOf,
  JsonOf,
  PathParameters,
  QueryOf,
} from '@gateway/dashboard-contract';
import type { Request, Response } from 'express';

/** Whose session it is that came with a request. */
export interface SignedIn {
  readonly session: Session;
  readonly member: Member;
  readonly sessionToken: string;
}

/** What a handler gets: what was sent, after validation, and who sent it. */
export interface Asked<Of extends Endpoint> {
  readonly params: PathParameters<Of['path']>;
  readonly query: QueryOf<Of>;
  readonly body: BodyOf<Of>;
  readonly headers: HeadersOf<Of>;
  /** The client's address in canonical form; empty when none can be read. */
  readonly address: string;
  /** Absent where anybody may ask. */
  readonly signedIn: Of['who'] extends 'anyone' ? undefined : SignedIn;
  /** For the audit log. */
  readonly actor: Of['who'] extends 'anyone' ? undefined : Actor;
  readonly request: Request;
  /** For cookies, and for answers that are not JSON: those the handler writes and ends itself. */
  readonly response: Response;
}

/** Answers with the endpoint's JSON; with nothing where that is the answer, or was written already. */
export type Handler<Of extends Endpoint> = (asked: Asked<Of>) => Promise<ReadonlyDeep<JsonOf<Of>>>;

/** Who only makes JSON of a value does not mind whether it could be changed. */
type ReadonlyDeep<Value> = Value extends readonly (infer Item)[]
  ? readonly ReadonlyDeep<Item>[]
  : Value extends object
    ? { readonly [Key in keyof Value]: ReadonlyDeep<Value[Key]> }
    : Value;

export interface Implementation {
  readonly endpoint: Endpoint;
  readonly handler: (asked: Asked<Endpoint>) => Promise<unknown>;
}

/** Binds a handler to what the contract says of its endpoint, and holds it to the types of that. */
export function implement<Of extends Endpoint>(endpoint: Of, handler: Handler<Of>): Implementation {
  // The router hands over what it has validated by the schemas of this very endpoint.
  return { endpoint, handler: handler as unknown as Implementation['handler'] };
}
