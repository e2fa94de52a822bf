export { startModelEmulator, type ModelEmulator, type ModelEmulatorOptions } from './server';
export { type GlobalFaults } from './admin';
export { type EmulatorStats, type SeenRequest } from './stats';
export { EMULATED_MODELS, type EmulatedModel } from './models';
export { createInProcessEmulator, type EmulatorRequest, type EmulatorResponse } from './in-process';
export { type ScriptedCall } from './completion';
