export { openActorSigner, openActorVerifier } from './actor-keys';
export * from './await-dependency';
export * from './database-settings';
export * from './kafka-settings';
export * from './open-schema';
export * from './run-service';
export * from './settings';
export * from './targets';
export { openTlsFolder, type TlsFolder } from './tls-folder';
