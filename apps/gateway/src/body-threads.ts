import { existsSync } from 'node:fs';
import path from 'node:path';
import { createBodyThreads, type ChatBodyThreads } from '@gateway/edge-proxy';
import { MAX_TOKENIZED_LENGTH } from '@gateway/tokenizer';

const PROGRAM = 'body-worker.js';

/** Threads for large bodies, of one edge. */
export function openBodyThreads(maxBodyBytes: number): ChatBodyThreads {
  return createBodyThreads({ program: builtProgram, maxTextLength: MAX_TOKENIZED_LENGTH, maxBodyBytes });
}

/** Beside the built gateway; tests that run from the sources take the build's. */
function builtProgram(): string {
  const beside = path.join(__dirname, PROGRAM);
  return existsSync(beside) ? beside : path.resolve(__dirname, '../../../dist/gateway', PROGRAM);
}
