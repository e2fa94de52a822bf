export { createKeyDirectory, type KeyDirectoryOptions, type KeyDirectoryPorts } from './adapters/auth-rpc';
export { createEdgeProxyModule, type EdgeProxyModule, type EdgeProxyPorts } from './service/module';
export { type KeyDirectory } from './core/ports';
export { defaultEdgeProxySettings, type EdgeProxySettings } from './service/settings';
