// `node report.mjs`: prints version, settings, health and metrics of this container's program as JSON, without secrets.
import { readFileSync } from 'node:fs';
import { inspectProcess, describeSettings } from './report/process-report.mjs';
import { createScrubber } from './report/without-secrets.mjs';

const { GATEWAY_ADMIN_PORT: port = '8082', GATEWAY_STATE_DIR: state = '/var/lib/gateway' } = process.env;
const read = (file) => JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8'));

const report = {
  version: read('package.json').version,
  node: process.version,
  settings: describeSettings(process.env, read('report/settings.json')),
  ...(await inspectProcess(`http://127.0.0.1:${port}`)),
};
process.stdout.write(`${createScrubber(process.env, state)(JSON.stringify(report))}\n`);
