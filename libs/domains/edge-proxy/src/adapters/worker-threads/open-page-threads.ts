import { builtProgram } from './built-program';
import { createPageThreads, type DocumentPageThreads } from './page-threads';

/** Page threads of one edge, with the program that the build places next to the app's. */
export function openPageThreads(): DocumentPageThreads {
  return createPageThreads({ program: () => builtProgram('page-worker.js') });
}
