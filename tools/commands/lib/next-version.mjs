// Generates a next version of every service from the current one, to test rolling upgrades: each message gets a new
// field that is always sent, each enumeration a new value, each table a new column, and each SQL function a new text.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { bundle } from '../../build/bundle/bundle.mjs';
import { filesUnder } from './files.mjs';
import { CLUSTER_PROJECTS } from './nx.mjs';
import { capture, root, StepFailed } from './run.mjs';

const FOLDER = 'dist/next-version';
const PROTO = `${FOLDER}/proto`;
const FIELD = 'added_in_next_version';
/** Far above the numbers that the contracts use. */
const FIELD_NUMBER = 30_000;
const ENUM_NUMBER = 1_000;
const MIGRATION_TIME = 29_990_101_000_000;

/** Builds the next version of all services to `dist/next-version/<service>/main.js`. */
export async function buildNextVersion() {
  rmSync(path.join(root, FOLDER), { recursive: true, force: true });
  for (const file of filesUnder('proto', (name) => name.endsWith('.proto'))) {
    write(`${FOLDER}/${file}`, withAdditions(read(file)));
  }
  const buf = path.join('node_modules', '@bufbuild', 'buf', 'bin', 'buf');
  const { code, output } = await capture(process.execPath, [buf, 'generate', PROTO, '-o', FOLDER], {
    BUF_CACHE_DIR: path.join(root, 'node_modules', '.cache', 'buf'),
  });
  if (code !== 0) throw new StepFailed(output);
  for (const service of CLUSTER_PROJECTS.filter((project) => project !== 'cluster')) {
    const outfile = path.join(FOLDER, service, 'main.js');
    await bundle(`apps/${service}/src/main.ts`, outfile, [nextContracts, nextSchemas]);
    // Other files, such as documents and worker threads, are the same in both versions.
    for (const name of readdirSync(path.join(root, 'dist', service))) {
      if (/^(main\.js(\.map)?|imports\.json)$/.test(name)) continue;
      cpSync(path.join(root, 'dist', service, name), path.join(root, FOLDER, service, name), {
        recursive: true,
      });
    }
  }
}

/** @returns the contract with a field for each message and a value for each enumeration. */
function withAdditions(proto) {
  return proto
    .replaceAll(/^( *)message \w+ \{/gm, `$& string ${FIELD} = ${FIELD_NUMBER};`)
    .replaceAll(/^( *)enum (\w+) \{([^}]*)\}/gm, (_, indent, name, values) => {
      const prefix = name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase();
      return `${indent}enum ${name} {${values} ${prefix}_${FIELD.toUpperCase()} = ${ENUM_NUMBER};\n${indent}}`;
    });
}

const GENERATED = 'libs/platform/contracts/src/generated/';
/** The generated code that sends a field only when it is set. */
const SENT_WHEN_SET =
  /if \(message\.addedInNextVersion !== ""\) \{\s*(writer\.uint32\(\d+\)\.string\()[^;]*;\s*\}/g;

const nextContracts = {
  name: 'next contracts',
  setup(build) {
    build.onLoad(
      { filter: /\/libs\/platform\/contracts\/src\/generated\/gateway\/.*\.ts$/ },
      ({ path: file }) => {
        const name = file.slice(file.indexOf(GENERATED));
        const current = read(`${FOLDER}/${name}`);
        const contents = current.replaceAll(SENT_WHEN_SET, '$1"of the next version");');
        // The entries of maps are not written as messages.
        const messages = current.match(/^export const \w+(?<!_[A-Za-z]+Entry): MessageFns</gm)?.length ?? 0;
        if (contents.split('of the next version').length - 1 !== messages) {
          throw new StepFailed(`${name}: not every message sends the new field`);
        }
        return { contents, loader: 'ts' };
      },
    );
  },
};

const nextSchemas = {
  name: 'next schemas',
  setup(build) {
    build.onLoad({ filter: /\/(sql|prisma)\/schema\.ts$/ }, ({ path: file }) => {
      const folder = path.relative(root, path.dirname(file));
      const scripts = filesUnder(folder, (name) => name.endsWith('.sql')).map(read);
      const tables = new Set(
        scripts.flatMap((sql) =>
          [...sql.matchAll(/create table (?:if not exists )?"?(\w+)\b"?(?!\s+partition of)/gi)].map(
            ([, name]) => name,
          ),
        ),
      );
      if (tables.size === 0) throw new StepFailed(`${folder}: found no table`);
      const added = [...tables].map(
        (table, index) =>
          `{ name: '${MIGRATION_TIME + index}_${table}', sql: ${JSON.stringify(addColumn(table))} }`,
      );
      const text = read(path.relative(root, file));
      const contents = text.replace(
        /(migrations: \[[\s\S]*?),?\s*\],(?=\s+functions:)/,
        (_, migrations) => `${migrations},\n  ${added.join(',\n  ')},\n],`,
      );
      if (contents === text) throw new StepFailed(`${file}: found no list of migrations`);
      return { contents, loader: 'ts' };
    });
    build.onLoad({ filter: /\/functions\/\w+\.sql$/ }, ({ path: file }) => ({
      contents: `-- Of the next version.\n${read(path.relative(root, file))}`,
      loader: 'text',
    }));
  },
};

/** One migration per table, so that each locks only one; tables that no longer exist are skipped. */
function addColumn(table) {
  return `
    do $$ begin
      if exists (
        select from pg_class
        where relnamespace = current_schema()::regnamespace and relname = '${table}'
          and relkind in ('r', 'p') and not relispartition
      ) then
        alter table ${table} add column ${FIELD} text not null default 'of the next version';
      end if;
    end $$;`;
}

function read(file) {
  return readFileSync(path.join(root, file), 'utf8');
}

function write(file, text) {
  const target = path.join(root, file);
  mkdirSync(path.dirname(target), { recursive: true });
  writeFileSync(target, text);
}
