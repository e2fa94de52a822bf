// `npm run models`: adds models to models.yaml with published prices, and compares prices with them.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { CatalogueError, compareCatalogue } from '@gateway/inference-router';
import { findPriceData, nearestModels } from '@gateway/inference-router/price-data';
import { readOptionsOrExit } from '@gateway/test-support';
import { addModel, CannotAdd } from './add-model';
import { readCatalogue } from './catalogue';
import { HELP, readOptions, type AddOptions, type DiffOptions } from './options';
import { renderDiff } from './render-diff';

/** 1 reports different prices. */
const FAILED = 2;

const PACKAGE = '@pydantic/genai-prices';

function add(options: AddOptions): void {
  const text = existsSync(options.file) ? readFileSync(options.file, 'utf8') : undefined;
  const source = { find: findPriceData, nearest: nearestModels, name: packageName() };
  const added = addModel(text, options, source, new Date());
  writeFileSync(options.file, added.text);
  process.stdout.write(`${[`${options.file}:`, ...added.report].join('\n')}\n`);
}

function diff({ file }: DiffOptions): void {
  const catalogue = readCatalogue(readFileSync(file, 'utf8'));
  const { lines, differs } = renderDiff(
    compareCatalogue(catalogue, findPriceData, new Date()),
    packageName(),
  );
  process.stdout.write(`${lines.join('\n')}\n`);
  process.exitCode = differs ? 1 : 0;
}

function packageName(): string {
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    dependencies: Readonly<Record<string, string>>;
  };
  return `${PACKAGE} ${dependencies[PACKAGE]}`;
}

const options = readOptionsOrExit(() => readOptions(process.argv.slice(2), process.env), HELP);
try {
  if (options.command === 'add') add(options);
  else diff(options);
} catch (error) {
  const isExpected =
    error instanceof CannotAdd ||
    error instanceof CatalogueError ||
    (error as { code?: string }).code === 'ENOENT';
  const { message, stack } = error as Error;
  process.stderr.write(`${isExpected ? message : stack}\n`);
  process.exitCode = FAILED;
}
