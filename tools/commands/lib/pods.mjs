import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { StepFailed } from './run.mjs';

const MAX_LINES = 2_000;
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
const TIMEOUT_MS = 60_000;

/**
 * What the program of each pod tells of itself, by the report that its image
 * has, and its log. A pod that cannot be asked says why: one that is ill is the
 * one that matters.
 */
export async function askPods({ selector, context, namespace }) {
  const of = Object.entries({ context, namespace }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, value],
  );
  const kubectl = async (...args) => {
    const options = { maxBuffer: MAX_ANSWER_BYTES, timeout: TIMEOUT_MS };
    return (await promisify(execFile)('kubectl', [...of, ...args], options)).stdout;
  };
  const listed = await kubectl('get', 'pods', '--selector', selector, '--output', 'name').catch((error) => {
    throw new StepFailed(`kubectl cannot list the pods: ${error.stderr || error.message}`);
  });
  const pods = listed.split('\n').filter(Boolean);
  if (pods.length === 0) throw new StepFailed(`There are no pods with '${selector}'.`);
  const found = [];
  for (const name of pods) {
    const pod = name.replace(/^pod\//, '');
    const told = await kubectl('exec', pod, '--', 'node', '/app/report.mjs').then(JSON.parse, (error) => ({
      failed: (error.stderr || error.message).trim(),
    }));
    const log = await kubectl('logs', pod, `--tail=${MAX_LINES}`).catch(() => '');
    found.push({ pod, report: { pod, ...told }, log });
  }
  return found;
}
