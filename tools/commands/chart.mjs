// `npm run chart`: generates values.schema.json and docs/reference/helm-values.md from values.yaml, the Grafana dashboards
// from their definitions, who calls whom from the contracts, and copies the files of the demo. With --check it writes nothing and fails when a file differs.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { format, resolveConfig } from 'prettier';
import { root } from './lib/run.mjs';
import { callsBetween, readAccess } from '../build/generate/access-table.mjs';
import { renderAccess, withAccess } from '../build/chart/access-page.mjs';
import { DASHBOARDS, renderDashboard } from '../build/chart/dashboards.mjs';
import { chartFolder, COPIES, describeValues, renderValues, withValues } from '../build/chart/values.mjs';

const { schema, rows } = describeValues();
const page = path.join(root, 'docs/reference/helm-values.md');
const generated = {
  [path.join(chartFolder, 'values.schema.json')]: `${JSON.stringify(schema, null, 2)}\n`,
  [page]: withValues(readFileSync(page, 'utf8'), renderValues(rows)),
};
const access = readAccess();
const accessPage = path.join(root, 'docs/reference/service-access.md');
const fromContracts = {
  [path.join(chartFolder, 'files/calls.yaml')]: renderCalls(callsBetween(access)),
  [accessPage]: withAccess(readFileSync(accessPage, 'utf8'), renderAccess(access)),
};
for (const [file, text] of Object.entries(generated)) {
  writeOrCheck(file, await format(text, { ...(await resolveConfig(file)), filepath: file }), 'values.yaml');
}
for (const [file, text] of Object.entries(fromContracts)) {
  writeOrCheck(file, await format(text, { ...(await resolveConfig(file)), filepath: file }), 'proto/');
}
for (const [name, dashboard] of Object.entries(DASHBOARDS)) {
  const text = `${JSON.stringify(renderDashboard(name, dashboard), null, 2)}\n`;
  writeOrCheck(
    path.join(chartFolder, 'dashboards', `${name}.json`),
    text,
    'tools/build/chart/dashboards.mjs',
  );
}
for (const [copy, original] of Object.entries(COPIES)) {
  writeOrCheck(path.join(chartFolder, copy), readFileSync(path.join(root, original), 'utf8'), original);
}

function renderCalls(calls) {
  const lines = Object.entries(calls).map(([caller, called]) => `${caller}: [${called.join(', ')}]`);
  return `# The services that each service calls, generated from proto/ by \`npm run chart\`.\n${lines.join('\n')}\n`;
}

function writeOrCheck(file, text, source) {
  if (!process.argv.includes('--check')) writeFileSync(file, text);
  else if (readFileSync(file, 'utf8') !== text) {
    process.stderr.write(`${path.basename(file)} differs from ${source}: run npm run chart\n`);
    process.exitCode = 1;
  }
}
