export { createLocalServer, type LocalServer, type LocalServerOptions } from './local-server';
export { createLocalTransport, type LocalTransport, type LocalTransportOptions } from './local-transport';
