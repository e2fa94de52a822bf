import { existsSync } from 'node:fs';
import path from 'node:path';
import { createBodyThreads, type BodyThreadsOptions, type ChatBodyThreads } from './body-threads';

const PROGRAM = 'body-worker.js';
const ROOT = '../../../../../..';

/** Threads for large bodies, of one edge, by the program that the build puts beside the app's. */
export function openBodyThreads(options: Omit<BodyThreadsOptions, 'program'>): ChatBodyThreads {
  return createBodyThreads({ ...options, program: builtProgram });
}

/** Tests that run from the sources take the program of the built gateway. */
function builtProgram(): string {
  const beside = path.join(__dirname, PROGRAM);
  return existsSync(beside) ? beside : path.resolve(__dirname, ROOT, 'dist/gateway', PROGRAM);
}
