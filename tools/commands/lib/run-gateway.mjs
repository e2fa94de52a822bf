import { createRequire } from 'node:module';
import { whenNpmEnds } from './follow-npm.mjs';

/** Runs the bundle of the gateway in this process, with its options. */
export function runGateway(bundle) {
  process.setSourceMapsEnabled(true);
  whenNpmEnds(() => process.kill(process.pid, 'SIGTERM'));
  createRequire(import.meta.url)(bundle);
}
