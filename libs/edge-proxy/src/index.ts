export { createKeyDirectory, type KeyDirectoryOptions } from './adapters/key-directory';
export {
  createEdgeProxyModule,
  type EdgeProxyModule,
  type EdgeProxyPorts,
} from './service/create-edge-proxy-module';
export { type KeyDirectory } from './service/ports';
export { defaultEdgeProxySettings, type EdgeProxySettings } from './service/settings';
