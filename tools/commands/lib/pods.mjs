import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { StepFailed } from './run.mjs';

const MAX_LINES = 2_000;
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
const TIMEOUT_MS = 60_000;

/**
 * Runs the report in each pod's image and reads the pod's log. For a pod in which
 * the report cannot run, the result says why: a failing pod matters most.
 */
export async function inspectPods({ selector, context, namespace }) {
  const target = Object.entries({ context, namespace }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, value],
  );
  const kubectl = async (...args) => {
    const options = { maxBuffer: MAX_OUTPUT_BYTES, timeout: TIMEOUT_MS };
    return (await promisify(execFile)('kubectl', [...target, ...args], options)).stdout;
  };
  const listed = await kubectl('get', 'pods', '--selector', selector, '--output', 'name').catch((error) => {
    throw new StepFailed(`kubectl cannot list the pods: ${error.stderr || error.message}`);
  });
  const pods = listed.split('\n').filter(Boolean);
  if (pods.length === 0) throw new StepFailed(`No pods match '${selector}'.`);
  const found = [];
  for (const name of pods) {
    const pod = name.replace(/^pod\//, '');
    const report = await kubectl('exec', pod, '--', 'node', '/app/report.mjs').then(JSON.parse, (error) => ({
      failed: (error.stderr || error.message).trim(),
    }));
    const log = await kubectl('logs', pod, `--tail=${MAX_LINES}`).catch(() => '');
    found.push({ pod, report: { pod, ...report }, log });
  }
  return found;
}
