import type { BodyThreads } from '../../core';
import { createBodyThreads, type BodyThreadsOptions } from './body-threads';
import { builtProgram } from './built-program';

/** Validation threads of one edge, with the program that the build places next to the app's. */
export function openBodyThreads(options: Omit<BodyThreadsOptions, 'program'>): BodyThreads {
  return createBodyThreads({ ...options, program: () => builtProgram('body-worker.js') });
}
