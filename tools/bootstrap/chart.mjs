// `npm run chart`: writes values.schema.json and the README's table of values, from values.yaml. With --check it
// writes nothing and fails when they are not what it would write.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { format, resolveConfig } from 'prettier';
import { chartFolder, describeValues, renderTable, withTable } from '../chart/values.mjs';

const { schema, rows } = describeValues();
const readme = path.join(chartFolder, 'README.md');
const wanted = {
  [path.join(chartFolder, 'values.schema.json')]: `${JSON.stringify(schema, null, 2)}\n`,
  [readme]: withTable(readFileSync(readme, 'utf8'), renderTable(rows)),
};
for (const [file, made] of Object.entries(wanted)) {
  const text = await format(made, { ...(await resolveConfig(file)), filepath: file });
  if (!process.argv.includes('--check')) writeFileSync(file, text);
  else if (readFileSync(file, 'utf8') !== text) {
    process.stderr.write(`${path.basename(file)} is not what values.yaml says: npm run chart\n`);
    process.exitCode = 1;
  }
}
