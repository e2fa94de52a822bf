export { startGateway, type GatewayProcess, type StartOptions } from '@gateway/testing';
