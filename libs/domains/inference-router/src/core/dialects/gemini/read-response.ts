import type { JsonObject } from '../../completion/json';
import type { ReadResponse } from '../dialect';
import { ResponseDecoder } from './decode-event';

/** A non-streaming response has the form of an event with the whole completion. */
export function readResponse(response: JsonObject, n: number): ReadResponse {
  const { choices, usage, error } = new ResponseDecoder(n).decode(response);
  return { choices, usage, error };
}
