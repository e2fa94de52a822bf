export {
  sharedCluster,
  startGateway,
  type GatewayProcess,
  type RunningGateway,
  type StartOptions,
} from '@gateway/test-support';
