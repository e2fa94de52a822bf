export {
  createKeyDirectory,
  createRpcServices,
  type KeyDirectoryOptions,
  type KeyDirectoryPorts,
} from './adapters/rpc';
export { createBodyThreads, createPageThreads } from './adapters/worker-threads';
export { createEdgeProxyModule, type EdgeProxyModule, type EdgeProxyPorts } from './service/module';
export { type KeyDirectory } from './core/ports';
export { edgeProxyEnvironment, edgeProxySettingsOf } from './service/environment';
export { defaultEdgeProxySettings, type EdgeProxySettings } from './service/settings';
export { openEdgeProxyModule, type OpenEdgeProxyOptions } from './open-module';
