import { z } from 'zod';
import { nameOf, namesIn } from './endpoint';
import { allEndpoints } from './endpoints';
import { dashboardErrors } from './errors';
import { pathParameters } from './fields';
import { managementTokenAccessOf } from './management-token-access';
import { allParts } from './parts';
import { isPermission, isPlatformPermission, permissions } from './permissions';

const named = [...allEndpoints(), ...allParts()].map((endpoint) => [nameOf(endpoint), endpoint] as const);

it('names each endpoint once', () => {
  const lines = named.map(([line]) => line);
  expect(lines).toEqual([...new Set(lines)]);
});

it('routes every endpoint but the parts of composed responses, which have an owner', () => {
  for (const { path } of allEndpoints()) expect(path).toMatch(/^\/api\//);
  for (const { path, owner, response } of allParts()) {
    expect([path, owner]).toEqual([expect.stringMatching(/^\/internal\//), expect.anything()]);
    expect(['json', 'no_content']).toContain(response.kind);
  }
});

it('opens these to people without a session; the credentials are in the request', () => {
  const open = named.filter(([, { access }]) => access === 'anyone').map(([line]) => line);
  expect(open).toEqual([
    'GET /api/sign-in-options',
    'POST /api/session',
    'GET /api/oidc/start',
    'GET /api/oidc/callback',
    'POST /api/invitations/look-up',
    'POST /api/invitations/accept',
    'POST /api/password-reset',
    'POST /api/password-reset/complete',
    'POST /internal/session/authorize',
    'POST /internal/management-token/authorize',
    'POST /internal/session',
    'POST /internal/oidc/start',
    'POST /internal/oidc/finish',
    'POST /internal/invitation',
  ]);
});

/** A position in a list, the last characters of a secret, and a duration. */
const NO_SECRETS = new Set(['next_page_token', 'previous_secret', 'time_to_first_token']);

describe.each(named)('%s', (_line, endpoint) => {
  it('describes every path parameter', () => {
    for (const name of namesIn(endpoint.path)) expect(Object.keys(pathParameters)).toContain(name);
  });

  it('needs an organization’s permission only with an organization in its path', () => {
    const { access } = endpoint;
    if (access === 'anyone' || access === 'signed_in' || access === 'authenticated') return;
    expect(Object.keys(permissions)).toContain(access);
    if (!isPlatformPermission(access)) expect(namesIn(endpoint.path)).toContain('organization_id');
  });

  it('is closed to management tokens if it needs a confirmed session', () => {
    if (endpoint.confirmed) expect(managementTokenAccessOf(endpoint)).toBeUndefined();
  });

  it('is open to read-only tokens without a permission only if it reads', () => {
    if (endpoint.access === 'authenticated') expect(endpoint.method).toBe('GET');
  });

  it('takes a body unless it is a GET', () => {
    if (endpoint.method === 'GET') expect(endpoint.body).toBeUndefined();
    else expect(endpoint.body).toBeDefined();
  });

  it('rejects unknown fields and parameters', () => {
    const isStrict = (schema: z.ZodType | undefined) => {
      const { additionalProperties } = (schema ? z.toJSONSchema(schema, { io: 'input' }) : {}) as {
        additionalProperties?: unknown;
      };
      return additionalProperties === false;
    };
    if (endpoint.body) expect(isStrict(endpoint.body)).toBe(true);
    // An identity provider may add parameters of its own to its callback.
    if (endpoint.query && endpoint.response.kind !== 'redirect') expect(isStrict(endpoint.query)).toBe(true);
  });

  it('is compressed only if it reads JSON without secrets', () => {
    const { compressed, method, response } = endpoint;
    if (!compressed) return;
    expect([method, response.kind]).toEqual(['GET', 'json']);
    const text = JSON.stringify(z.toJSONSchema((response as { schema: z.ZodType }).schema, { io: 'output' }));
    const secrets = [...text.matchAll(/"(\w*(?:secret|token|password|link|webhook_url|codes))":/g)]
      .map(([, name = '']) => name)
      .filter((name) => !NO_SECRETS.has(name));
    expect(secrets).toEqual([]);
  });

  it('shows what providers cost to operators only', () => {
    const { access, response } = endpoint;
    const isForOperators = isPermission(access) && isPlatformPermission(access);
    if (isForOperators || response.kind !== 'json') return;
    const text = JSON.stringify(z.toJSONSchema(response.schema, { io: 'output' }));
    expect(text).not.toMatch(/margin|provider_cost/i);
  });

  it('has a response that JSON Schema can describe', () => {
    if (endpoint.response.kind !== 'json') return;
    expect(() =>
      z.toJSONSchema((endpoint.response as { schema: z.ZodType }).schema, { io: 'output' }),
    ).not.toThrow();
  });

  it('lists only errors of the error table', () => {
    for (const code of endpoint.errors ?? []) expect(Object.keys(dashboardErrors)).toContain(code);
  });
});
