import { allEndpoints, type Endpoint } from '@gateway/dashboard-contract';
import { createHandlers } from '../handlers';
import type { DashboardApiPorts } from '../ports';
import { createEndpointRouter } from './router';

/** Nothing is asked while handlers are only bound. */
const ports = {
  settings: { host: '127.0.0.1', port: 0 },
  deadLetters: new Map(),
  clock: { now: () => 0 },
} as unknown as DashboardApiPorts;
const handlers = createHandlers(ports);
const lineOf = ({ method, path }: Endpoint) => `${method} ${path}`;

describe('the routes of the contract', () => {
  it.each(allEndpoints().map(lineOf))('has a handler, and one: %s', (line) => {
    expect(handlers.filter(({ endpoint }) => lineOf(endpoint) === line)).toHaveLength(1);
  });

  it('are not served at all while one of them has no handler', () => {
    expect(() => createEndpointRouter(ports, handlers)).not.toThrow();
    expect(() => createEndpointRouter(ports, handlers.slice(1))).toThrow(/has no handler/);
    expect(() => createEndpointRouter(ports, [...handlers, ...handlers])).toThrow(/has two handlers/);
  });
});
