import type { CallActor } from '@gateway/actors';
import type { CancelSignal } from '@gateway/base';
import type { RequestClient } from './admin-client';
import type {
  BodyOf,
  Endpoint,
  HeadersOf,
  JsonOf,
  PathParameters,
  QueryOf,
} from '@gateway/dashboard-contract';

/** A checked request and its actor. */
export interface HandlerInput<Of extends Endpoint> {
  readonly params: PathParameters<Of['path']>;
  readonly query: QueryOf<Of>;
  readonly body: BodyOf<Of>;
  readonly headers: HeadersOf<Of>;
  /** The verified person or management token, who has the endpoint's access. */
  readonly actor: Of['access'] extends 'anyone' ? undefined : CallActor;
  /** Whether the actor has the permissions of operators. */
  readonly isOperator: boolean;
  readonly client: RequestClient;
  /** Aborts when the caller no longer waits. */
  readonly signal: CancelSignal;
}

/** The JSON of an endpoint; handlers may return readonly values. */
export type JsonResult<Of extends Endpoint> = ReadonlyDeep<JsonOf<Of>>;

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
export function implement<Of extends Endpoint>(
  endpoint: Of,
  handler: (input: HandlerInput<Of>) => Promise<JsonResult<Of>>,
): Implementation {
  // `serveEndpoints` checks the input with the schemas of this endpoint.
  return { endpoint, handler: handler as unknown as Implementation['handler'] };
}
