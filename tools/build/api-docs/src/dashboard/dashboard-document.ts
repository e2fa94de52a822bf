import {
  dashboardErrors,
  endpoints,
  errorsOf,
  isPlatformPermission,
  managementTokenAccessOf,
  namesIn,
  pathParameters,
  permissions,
  type DashboardErrorCode,
  type Endpoint,
} from '@gateway/dashboard-contract';
import { z } from 'zod';

type Json = Readonly<Record<string, unknown>>;

const SCHEMAS = '#/components/schemas/';
const SESSION = { session: [] };
const MANAGEMENT_TOKEN = { managementToken: [] };
const SESSION_COOKIE = 'Over HTTPS its name is `__Host-gateway_session`.';
const SUCCESS_TEXTS: Readonly<Record<number, string>> = {
  200: 'Done.',
  201: 'Created.',
  204: 'Done; there is no body.',
  303: 'Redirect.',
};

/** The dashboard API as an OpenAPI 3.1 document, generated from the table that routes and validates requests. */
export function createDashboardDocument(): Json {
  const components: Record<string, unknown> = { Error: errorSchema() };
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [family, group] of Object.entries(endpoints)) {
    for (const [name, endpoint] of Object.entries<Endpoint>(group)) {
      const operationId = `${family}.${name}`;
      (paths[endpoint.path] ??= {})[endpoint.method.toLowerCase()] = {
        operationId,
        tags: [family],
        ...operation(endpoint, components),
      };
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Inference Gateway: dashboard API',
      version: '1',
      description:
        'For the dashboard and for programs that manage the gateway. Sign in with POST /api/session, which sets the ' +
        'cookie, or send a management token as `Authorization: Bearer mk-gw-…`, which needs no cookie. A session ends after a time without requests; those with the header `gateway-background: true` do not ' +
        'extend it. Requests that change data must be JSON and, with a session, from the dashboard’s own origin if they name one. Unknown fields and ' +
        'parameters are rejected.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: 'http://127.0.0.1:8081' }],
    tags: Object.keys(endpoints).map((name) => ({ name })),
    paths,
    components: {
      schemas: Object.fromEntries(Object.entries(components).sort(([a], [b]) => (a < b ? -1 : 1))),
      securitySchemes: {
        managementToken: { type: 'http', scheme: 'bearer', description: 'A management token, `mk-gw-…`.' },
        session: { type: 'apiKey', in: 'cookie', name: 'gateway_session', description: SESSION_COOKIE },
      },
    },
  };
}

function operation(endpoint: Endpoint, components: Record<string, unknown>): Json {
  const { summary, description, access, audit, query, headers, body } = endpoint;
  const parameters = [
    ...namesIn(endpoint.path).map((name) => ({
      name,
      in: 'path',
      required: true,
      schema: { type: 'string' },
      description: pathParameters[name as keyof typeof pathParameters],
    })),
    ...parametersOf(query, 'query', components),
    ...parametersOf(headers, 'header', components),
  ];
  const written = audit ? `Audited as ${audit.map((action) => `\`${action}\``).join(', ')}.` : undefined;
  return {
    summary,
    description: [description, accessText(access), tokenText(endpoint), written].filter(Boolean).join('\n\n'),
    security: securityOf(endpoint),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body ? { requestBody: { required: true, content: jsonContent(schemaOf(body, components)) } } : {}),
    responses: responsesOf(endpoint, components),
  };
}

function accessText(access: Endpoint['access']): string {
  if (access === 'anyone') return 'Public.';
  if (access === 'signed_in') return 'Requires a session.';
  if (access === 'authenticated') return 'Requires a session or a management token.';
  return `Requires the permission \`${access}\`${isPlatformPermission(access) ? ' (operators)' : ''}: ${permissions[access]}`;
}

function securityOf(endpoint: Endpoint): readonly Json[] {
  if (endpoint.access === 'anyone') return [];
  return managementTokenAccessOf(endpoint) === undefined ? [SESSION] : [SESSION, MANAGEMENT_TOKEN];
}

function tokenText(endpoint: Endpoint): string | undefined {
  if (endpoint.access === 'anyone' || endpoint.access === 'signed_in') return undefined;
  const access = managementTokenAccessOf(endpoint);
  return access === undefined
    ? 'Closed to management tokens.'
    : `Management tokens need the access \`${access}\`.`;
}

function parametersOf(schema: z.ZodObject | undefined, place: string, components: Record<string, unknown>) {
  if (!schema) return [];
  const { properties = {}, required = [] } = schemaOf(schema, components) as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description, ...rest }]) => ({
    name,
    in: place,
    required: required.includes(name),
    schema: rest,
    ...(description === undefined ? {} : { description }),
  }));
}

function responsesOf(endpoint: Endpoint, components: Record<string, unknown>): Json {
  const { response } = endpoint;
  const success: Json = {
    description: SUCCESS_TEXTS[response.status],
    ...(response.kind === 'json' ? { content: jsonContent(schemaOf(response.schema, components)) } : {}),
    ...(response.kind === 'stream' ? { content: { [response.mediaType]: {} } } : {}),
  };
  const byStatus = new Map<number, DashboardErrorCode[]>();
  for (const code of errorsOf(endpoint)) {
    const { httpStatus } = dashboardErrors[code];
    byStatus.set(httpStatus, [...(byStatus.get(httpStatus) ?? []), code]);
  }
  const refusals = [...byStatus].map(([status, codes]) => {
    const description = codes.map((code) => `\`${code}\`: ${dashboardErrors[code].when}`).join('\n\n');
    return [status, { description, content: jsonContent({ $ref: `${SCHEMAS}Error` }) }];
  });
  return { [response.status]: success, ...Object.fromEntries(refusals) };
}

/** As JSON Schema; named schemas become components. */
function schemaOf(schema: z.ZodType, components: Record<string, unknown>): Json {
  const {
    $schema: _dialect,
    $defs,
    ...own
  } = z.toJSONSchema(schema, { io: 'input' }) as Record<string, unknown>;
  const linked = JSON.parse(
    JSON.stringify({ own, defs: $defs ?? {} }).replaceAll('"#/$defs/', `"${SCHEMAS}`),
  ) as { own: Json & { id?: string }; defs: Record<string, Json> };
  for (const [name, named] of Object.entries(linked.defs)) components[name] = withoutId(named);
  const { id } = linked.own;
  if (id === undefined) return linked.own;
  components[id] = withoutId(linked.own);
  return { $ref: `${SCHEMAS}${id}` };
}

/** The key of a component is its name. */
function withoutId({ id: _name, ...schema }: Json): Json {
  return schema;
}

function jsonContent(schema: Json): Json {
  return { 'application/json': { schema } };
}

function errorSchema(): Json {
  const error = z.object({
    message: z.string(),
    type: z.enum([...new Set(Object.values(dashboardErrors).map(({ type }) => type))]),
    param: z.string().optional().meta({ description: 'The invalid field, such as ip_allowlist[0].' }),
    code: z.enum(Object.keys(dashboardErrors)),
    metadata: z.record(z.string(), z.unknown()),
  });
  return withoutId(schemaOf(z.object({ error }), {}));
}
