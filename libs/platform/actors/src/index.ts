export * from './call-actor';
export { createActorSigner, type ActorSigner } from './actor-signer';
export { createActorVerifier, InvalidAssertion, type ActorVerifier } from './actor-verifier';
export * from './key-files';
export * from './signing-keys';
