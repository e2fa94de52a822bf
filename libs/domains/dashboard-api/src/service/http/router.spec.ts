import { allEndpoints, type Endpoint } from '@gateway/dashboard-contract';
import { createHandlers } from '../handlers';
import type { DashboardApiPorts } from '../ports';
import { createEndpointRouter } from './router';

/** Binding handlers makes no calls. */
const ports = {
  settings: { host: '127.0.0.1', port: 0 },
  deadLetters: new Map(),
  clock: { now: () => 0 },
} as unknown as DashboardApiPorts;
const handlers = createHandlers(ports);
const nameOf = ({ method, path }: Endpoint) => `${method} ${path}`;

describe('the routes of the contract', () => {
  it.each(allEndpoints().map(nameOf))('have exactly one handler: %s', (name) => {
    expect(handlers.filter(({ endpoint }) => nameOf(endpoint) === name)).toHaveLength(1);
  });

  it('cannot be created with a missing or a duplicate handler', () => {
    expect(() => createEndpointRouter(ports, handlers)).not.toThrow();
    expect(() => createEndpointRouter(ports, handlers.slice(1))).toThrow(/has no handler/);
    expect(() => createEndpointRouter(ports, [...handlers, ...handlers])).toThrow(/has two handlers/);
  });
});
