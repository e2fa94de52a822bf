import { AdminDefinition, type CallRequest, type CallResponse } from '@gateway/contracts/admin';
import {
  allEndpoints,
  allParts,
  DashboardError,
  nameOf,
  namesIn,
  type Endpoint,
  type Owner,
} from '@gateway/dashboard-contract';
import { unavailableAsNoCapacity } from '@gateway/errors';
import { bindService, RpcError, type BoundService, type CallAccess, type CallContext } from '@gateway/rpc';
import { z } from 'zod';
import type { RequestClient } from './admin-client';
import type { HandlerInput, Implementation } from './implement';
import { readInput } from './read-input';

const NOTHING = z.strictObject({});
const UNKNOWN_CLIENT: RequestClient = { ipAddress: '', device: '', dashboardUrl: '' };

export interface ServeEndpointsOptions {
  /** Whether an error means that the owner's database is unavailable. */
  readonly isUnavailable: (error: unknown) => boolean;
}

/**
 * Serves the endpoints of an owner. The transport verifies the actor of each call and checks that they have the
 * endpoint's access.
 * @throws Error unless each endpoint of the owner has one implementation.
 */
export function serveEndpoints(
  owner: Owner,
  implementations: readonly Implementation[],
  { isUnavailable }: ServeEndpointsOptions,
): BoundService {
  const byName = new Map(implementations.map((each) => [nameOf(each.endpoint), each]));
  const owned = [...allEndpoints(), ...allParts()].filter((endpoint) => endpoint.owner === owner);
  const isComplete =
    byName.size === implementations.length &&
    byName.size === owned.length &&
    owned.every((endpoint) => byName.get(nameOf(endpoint))?.endpoint === endpoint);
  if (!isComplete) throw new Error(`${owner} does not implement each of its endpoints once`);

  const find = (name: string): Implementation => {
    const found = byName.get(name);
    // An owner of an earlier version.
    if (!found) throw new RpcError('unimplemented', `${owner} has no endpoint ${name}`);
    return found;
  };
  const call = (request: CallRequest, context: CallContext) =>
    unavailableAsNoCapacity(respond(find(request.endpoint), request, context), isUnavailable);

  return bindService(AdminDefinition, { read: call, change: call }, (method, request) => {
    const { endpoint } = find((request as CallRequest).endpoint);
    if ((method === 'Read') !== (endpoint.method === 'GET')) {
      throw new RpcError('unimplemented', `${nameOf(endpoint)} is not served by ${method}`);
    }
    return accessOf(endpoint);
  });
}

function accessOf({ access, method }: Endpoint): CallAccess {
  return { permission: access === 'anyone' ? undefined : access, audited: method !== 'GET' };
}

async function respond(
  { endpoint, handler }: Implementation,
  request: CallRequest,
  { actor, signal }: CallContext,
): Promise<CallResponse> {
  try {
    const isOperator = actor?.memberRole === 'operator';
    const { client = UNKNOWN_CLIENT } = request;
    const input = { ...inputOf(endpoint, request), client, actor, isOperator, signal };
    const result = await handler(input as unknown as HandlerInput<Endpoint>);
    return { outcome: { $case: 'json', value: result === undefined ? '' : JSON.stringify(result) } };
  } catch (error) {
    if (!(error instanceof DashboardError)) throw error;
    const { code, message, param, metadata } = error;
    const metadataJson = JSON.stringify(metadata);
    const retryAfterMs = error.retryAfterMs === undefined ? undefined : Math.ceil(error.retryAfterMs);
    return { outcome: { $case: 'refusal', value: { code, message, param, metadataJson, retryAfterMs } } };
  }
}

function inputOf(endpoint: Endpoint, { organizationId, inputJson }: CallRequest) {
  const input = JSON.parse(inputJson) as Readonly<Record<'params' | 'query' | 'body' | 'headers', unknown>>;
  const { query = NOTHING, body, headers } = endpoint;
  // The assertion covers this organization, and no other that the input may name.
  const params = { ...(input.params as object), organization_id: organizationId };
  return {
    params: readInput(paramsOf(endpoint), params, 'params'),
    query: readInput(query, input.query ?? {}, 'query'),
    body: body ? readInput(body, input.body ?? {}, 'body') : {},
    headers: headers ? readInput(headers, input.headers ?? {}, 'headers') : {},
  };
}

function paramsOf({ path }: Endpoint): z.ZodObject {
  return z.object(Object.fromEntries(namesIn(path).map((name) => [name, z.string()])));
}
