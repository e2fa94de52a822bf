export { createKeyDirectory, type KeyDirectoryOptions, type KeyDirectoryPorts } from './adapters/auth-rpc';
export { createBodyThreads, type BodyThreadsOptions, type ChatBodyThreads } from './adapters/worker-threads';
export { createEdgeProxyModule, type EdgeProxyModule, type EdgeProxyPorts } from './service/module';
export { type KeyDirectory } from './core/ports';
export { defaultEdgeProxySettings, type EdgeProxySettings } from './service/settings';
