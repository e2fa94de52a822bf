import { AdminDefinition } from '@gateway/contracts/admin';
import { SERVERS } from '@gateway/contracts/callers';
import {
  allEndpoints,
  allParts,
  DashboardError,
  endpoints,
  OWNERS,
  parts,
} from '@gateway/dashboard-contract';
import type { GatewayError } from '@gateway/errors';
import { createClient } from '@gateway/rpc';
import { inProcessFor } from '@gateway/test-support';
import { createAdminClient } from './admin-client';
import { implement, type Implementation } from './implement';
import { serveEndpoints } from './serve-endpoints';

const owned = [...allEndpoints(), ...allParts()].filter(({ owner }) => owner === 'generation-query');
const unused = owned.map((endpoint) => implement(endpoint, () => Promise.reject(new Error('not called'))));
const serve = (...implementations: readonly Implementation[]) => {
  const others = unused.filter((one) => implementations.every(({ endpoint }) => one.endpoint !== endpoint));
  const isUnavailable = (error: unknown) => (error as Error).message === 'the database is down';
  return serveEndpoints('generation-query', [...others, ...implementations], { isUnavailable });
};
const clientOf = (...implementations: readonly Implementation[]) =>
  createAdminClient(inProcessFor([serve(...implementations)]));
const params = { organization_id: 'org-1' };

it('the owners of endpoints are the servers of the service that carries their calls', () => {
  expect([...(SERVERS[AdminDefinition.fullName] ?? [])].sort()).toEqual([...OWNERS].sort());
});

it('each endpoint of an owner has one implementation, and no other endpoint has one', () => {
  const isUnavailable = () => false;
  const foreign = implement(endpoints.operator.version, () => Promise.reject(new Error('not called')));
  for (const implementations of [unused.slice(1), [...unused, ...unused.slice(0, 1)], [...unused, foreign]]) {
    expect(() => serveEndpoints('generation-query', implementations, { isUnavailable })).toThrow(
      /does not implement/,
    );
  }
});

it('a handler gets the checked request and its actor, and its result is the response', async () => {
  const seen: unknown[] = [];
  const client = clientOf(
    implement(parts.organizationUsage, async (input) => {
      seen.push(input);
      return { data: [] };
    }),
  );
  const query = { organization_ids: ['org-7'] };
  expect(await client.call(parts.organizationUsage, { query })).toEqual({ data: [] });
  expect(seen).toEqual([
    expect.objectContaining({
      query,
      isOperator: true,
      actor: expect.objectContaining({ id: 'mem-operator' }),
    }),
  ]);
  const invalid = { query: { organization_ids: ['org-7'], other: 1 } };
  await expect(client.forward(parts.organizationUsage, invalid)).rejects.toMatchObject({
    ...{ code: 'invalid', param: 'other', message: 'Unknown parameter: other.' },
  });
  expect(seen).toHaveLength(1);
});

it('the organization of a handler is the one that the assertion covers, whatever the input names', async () => {
  const seen: string[] = [];
  const usageNow = implement(parts.usageNow, async (input) => {
    seen.push(input.params.organization_id);
    return { spend_today_usd: '0', requests_today: 0, latest_generation_id: null };
  });
  const service = serve(usageNow);
  const call = (organizationId: string | undefined) => {
    const inputJson = JSON.stringify({ params: { organization_id: 'org-2' } });
    const request = {
      endpoint: 'GET /internal/organizations/{organization_id}/usage-now',
      organizationId,
      inputJson,
    };
    return createClient(AdminDefinition, inProcessFor([service])).read(request);
  };
  await call('org-1');
  expect(seen).toEqual(['org-1']);
  expect(await call(undefined)).toMatchObject({
    outcome: { value: { code: 'invalid', param: 'organization_id' } },
  });
  expect(seen).toEqual(['org-1']);
});

it('a refusal arrives with all its parts', async () => {
  const refusal = new DashboardError('version_conflict', {
    ...{
      message: 'Too late.',
      param: 'version',
      metadata: { current: { version: 3 } },
      retryAfterMs: 1_500.5,
    },
  });
  const client = clientOf(implement(parts.usageNow, () => Promise.reject(refusal)));
  const error = (await client
    .call(parts.usageNow, { params })
    .catch((thrown: unknown) => thrown)) as DashboardError;
  expect(error).toBeInstanceOf(DashboardError);
  const { code, message, param, metadata, retryAfterMs } = error;
  expect({ code, message, param, metadata, retryAfterMs }).toEqual({
    ...{ code: 'version_conflict', message: 'Too late.', param: 'version' },
    ...{ metadata: { current: { version: 3 } }, retryAfterMs: 1_501 },
  });
});

it('an unavailable database is no_capacity, and any other failure an internal error without its text', async () => {
  for (const [message, code] of [
    ['the database is down', 'no_capacity'],
    ['a secret', 'internal_error'],
  ] as const) {
    const client = clientOf(implement(parts.usageNow, () => Promise.reject(new Error(message))));
    const error = (await client
      .call(parts.usageNow, { params })
      .catch((thrown: unknown) => thrown)) as GatewayError;
    expect([error.code, error.message]).toEqual([code, expect.not.stringContaining('secret')]);
  }
});

it('an endpoint that an owner of an earlier version lacks is unimplemented, and so is one of the other method', async () => {
  const client = clientOf();
  const later = { ...parts.usageNow, path: '/internal/organizations/{organization_id}/later' } as const;
  const changing = { ...parts.usageNow, method: 'POST' } as const;
  for (const endpoint of [later, changing]) {
    await expect(client.forward(endpoint, { params })).rejects.toMatchObject({ failure: 'unimplemented' });
  }
});
