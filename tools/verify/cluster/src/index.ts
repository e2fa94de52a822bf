export { startCluster, type Cluster, type ClusterOptions } from './cluster';
export type { Replica } from './replica';
export { SERVICE_NAMES, SERVICES, type ServiceName } from './services';
export { ensureDatabases } from './databases';
