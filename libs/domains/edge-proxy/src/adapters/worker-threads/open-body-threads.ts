import { existsSync } from 'node:fs';
import path from 'node:path';
import { createBodyThreads, type BodyThreadsOptions, type ChatBodyThreads } from './body-threads';

const PROGRAM = 'body-worker.js';
const ROOT = '../../../../../..';

/** Validation threads of one edge, with the program that the build places next to the app's. */
export function openBodyThreads(options: Omit<BodyThreadsOptions, 'program'>): ChatBodyThreads {
  return createBodyThreads({ ...options, program: builtProgram });
}

/** Tests that run from source use the program of the built gateway. */
function builtProgram(): string {
  const sibling = path.join(__dirname, PROGRAM);
  return existsSync(sibling) ? sibling : path.resolve(__dirname, ROOT, 'dist/gateway', PROGRAM);
}
