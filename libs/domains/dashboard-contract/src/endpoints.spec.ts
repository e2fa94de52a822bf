import { z } from 'zod';
import { namesIn, type Endpoint } from './endpoint';
import { allEndpoints } from './endpoints';
import { dashboardErrors } from './errors';
import { pathParameters } from './fields';
import { isPlatformPermission, permissions } from './permissions';

const lineOf = ({ method, path }: Endpoint) => `${method} ${path}`;
const named = allEndpoints().map((endpoint) => [lineOf(endpoint), endpoint] as const);

it('names each endpoint once', () => {
  const lines = named.map(([line]) => line);
  expect(lines).toEqual([...new Set(lines)]);
});

describe.each(named)('%s', (_line, endpoint) => {
  it('describes every part of its path that varies', () => {
    for (const name of namesIn(endpoint.path)) expect(Object.keys(pathParameters)).toContain(name);
  });

  it('asks for a permission of an organization exactly where it names one', () => {
    const { who } = endpoint;
    if (who === 'anyone' || who === 'signed_in') return;
    expect(Object.keys(permissions)).toContain(who);
    if (!isPlatformPermission(who)) expect(namesIn(endpoint.path)).toContain('organization_id');
  });

  it('takes a body exactly where it may change something', () => {
    if (endpoint.method === 'GET') expect(endpoint.body).toBeUndefined();
    else expect(endpoint.body).toBeDefined();
  });

  it('refuses what it does not know', () => {
    const refuses = (schema: z.ZodType | undefined) => {
      const { additionalProperties } = (schema ? z.toJSONSchema(schema, { io: 'input' }) : {}) as {
        additionalProperties?: unknown;
      };
      return additionalProperties === false;
    };
    if (endpoint.body) expect(refuses(endpoint.body)).toBe(true);
    // A provider of single sign-on may add parameters of its own.
    if (endpoint.query && endpoint.answer.kind !== 'redirect') expect(refuses(endpoint.query)).toBe(true);
  });

  it('answers with what JSON can say', () => {
    if (endpoint.answer.kind !== 'json') return;
    expect(() =>
      z.toJSONSchema((endpoint.answer as { schema: z.ZodType }).schema, { io: 'output' }),
    ).not.toThrow();
  });

  it('is refused with errors of the table', () => {
    for (const code of endpoint.errors ?? []) expect(Object.keys(dashboardErrors)).toContain(code);
  });
});
