import { builtProgram } from './built-program';
import type { PageThreads } from '../../core';
import { createPageThreads } from './page-threads';

/** Page threads of one edge, with the program that the build places next to the app's. */
export function openPageThreads(): PageThreads {
  return createPageThreads({ program: () => builtProgram('page-worker.js') });
}
