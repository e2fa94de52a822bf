import { allEndpoints, nameOf } from '@gateway/dashboard-contract';
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

describe('the routes of the contract', () => {
  it.each(allEndpoints().map((each) => [nameOf(each), each] as const))(
    'have exactly one handler, or an owner: %s',
    (_name, endpoint) => {
      const own = handlers.filter((handler) => handler.endpoint === endpoint);
      expect(own.length === 1 || (own.length === 0 && endpoint.owner !== undefined)).toBe(true);
    },
  );

  it('cannot be created with a missing or a duplicate handler', () => {
    expect(() => createEndpointRouter(ports, handlers)).not.toThrow();
    expect(() => createEndpointRouter(ports, handlers.slice(1))).toThrow(
      /has neither a handler nor an owner/,
    );
    expect(() => createEndpointRouter(ports, [...handlers, ...handlers])).toThrow(/has two handlers/);
  });
});
