// `npm run chart`: writes values.schema.json and the README's table of values from values.yaml, and Grafana's dashboards
// from what they show; copies what the demo has from elsewhere. With --check it writes nothing and fails when they are not what it would write.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { format, resolveConfig } from 'prettier';
import { root } from './lib/run.mjs';
import { DASHBOARDS, renderDashboard } from '../build/chart/dashboards.mjs';
import { chartFolder, COPIES, describeValues, renderTable, withTable } from '../build/chart/values.mjs';

const { schema, rows } = describeValues();
const readme = path.join(chartFolder, 'README.md');
const wanted = {
  [path.join(chartFolder, 'values.schema.json')]: `${JSON.stringify(schema, null, 2)}\n`,
  [readme]: withTable(readFileSync(readme, 'utf8'), renderTable(rows)),
};
for (const [file, made] of Object.entries(wanted)) {
  bring(file, await format(made, { ...(await resolveConfig(file)), filepath: file }), 'values.yaml');
}
for (const [name, dashboard] of Object.entries(DASHBOARDS)) {
  const text = `${JSON.stringify(renderDashboard(name, dashboard), null, 2)}\n`;
  bring(path.join(chartFolder, 'dashboards', `${name}.json`), text, 'tools/build/chart/dashboards.mjs');
}
for (const [copy, original] of Object.entries(COPIES)) {
  bring(path.join(chartFolder, copy), readFileSync(path.join(root, original), 'utf8'), original);
}

function bring(file, text, source) {
  if (!process.argv.includes('--check')) writeFileSync(file, text);
  else if (readFileSync(file, 'utf8') !== text) {
    process.stderr.write(`${path.basename(file)} is not what ${source} says: npm run chart\n`);
    process.exitCode = 1;
  }
}
