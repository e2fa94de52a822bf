// `npm run chart`: generates values.schema.json and the README's table of values from values.yaml, and the Grafana
// dashboards from their definitions; copies the demo's shared files. With --check it writes nothing and fails on a difference.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { format, resolveConfig } from 'prettier';
import { root } from './lib/run.mjs';
import { DASHBOARDS, renderDashboard } from '../build/chart/dashboards.mjs';
import { chartFolder, COPIES, describeValues, renderTable, withTable } from '../build/chart/values.mjs';

const { schema, rows } = describeValues();
const readme = path.join(chartFolder, 'README.md');
const generated = {
  [path.join(chartFolder, 'values.schema.json')]: `${JSON.stringify(schema, null, 2)}\n`,
  [readme]: withTable(readFileSync(readme, 'utf8'), renderTable(rows)),
};
for (const [file, text] of Object.entries(generated)) {
  writeOrCheck(file, await format(text, { ...(await resolveConfig(file)), filepath: file }), 'values.yaml');
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

function writeOrCheck(file, text, source) {
  if (!process.argv.includes('--check')) writeFileSync(file, text);
  else if (readFileSync(file, 'utf8') !== text) {
    process.stderr.write(`${path.basename(file)} is out of date with ${source}. Run: npm run chart\n`);
    process.exitCode = 1;
  }
}
