export {
  isClusterDeployment,
  sharedGateway,
  startGateway,
  type GatewayProcess,
  type RunningGateway,
  type StartOptions,
} from '@gateway/test-support';
