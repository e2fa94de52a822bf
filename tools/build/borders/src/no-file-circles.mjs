// An ESLint rule: no file imports itself by way of others. Nx sees circles between projects; this sees those between
// the files of one, also where only types go round. Imports are read and resolved by TypeScript itself.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

/** The imports of every file of the tree, read once per run: all of it takes less than half a second. */
let graph;

export const noFileCircles = {
  meta: {
    type: 'problem',
    schema: [],
    messages: { circle: 'A circle of imports: {{ path }}.' },
  },
  create(context) {
    graph ??= readImports(context.cwd);
    const file = path.resolve(context.filename);
    const check = ({ source }) => {
      if (!source || source.type !== 'Literal') return;
      const target = graph.targets.get(file)?.get(source.value);
      const wayBack = target && shortestPath(graph, target, file);
      if (!wayBack) return;
      const circle = [file, ...wayBack].map((name) => path.relative(context.cwd, name)).join(' → ');
      context.report({ node: source, messageId: 'circle', data: { path: circle } });
    };
    return {
      ImportDeclaration: check,
      ExportNamedDeclaration: check,
      ExportAllDeclaration: check,
      ImportExpression: check,
    };
  },
};

/** What runs in browsers is read with settings of its own. */
const CONFIG_FILES = ['tsconfig.json', 'apps/dashboard/tsconfig.json'];

function readImports(root) {
  return { targets: new Map(CONFIG_FILES.flatMap((name) => [...targetsOf(root, name)])) };
}

function targetsOf(root, configName) {
  const configFile = path.join(root, configName);
  const { options, fileNames } = ts.parseJsonConfigFileContent(
    ts.readConfigFile(configFile, ts.sys.readFile).config,
    ts.sys,
    path.dirname(configFile),
    undefined,
    configFile,
  );
  const cache = ts.createModuleResolutionCache(root, (name) => name, options);
  /** file → what it imports, as written → the file that this is */
  const targets = new Map();
  for (const file of fileNames) {
    const imports = new Map();
    for (const { fileName: written } of ts.preProcessFile(readFileSync(file, 'utf8'), true, true)
      .importedFiles) {
      const found = ts.resolveModuleName(written, file, options, ts.sys, cache).resolvedModule;
      if (found && !found.isExternalLibraryImport) imports.set(written, path.resolve(found.resolvedFileName));
    }
    targets.set(path.resolve(file), imports);
  }
  return targets;
}

/** From one file to another by imports, both included; undefined when there is no way. */
function shortestPath({ targets }, from, to) {
  const cameFrom = new Map([[from, undefined]]);
  for (const file of cameFrom.keys()) {
    if (file === to) {
      const way = [];
      for (let step = to; step; step = cameFrom.get(step)) way.unshift(step);
      return way;
    }
    for (const next of targets.get(file)?.values() ?? []) if (!cameFrom.has(next)) cameFrom.set(next, file);
  }
  return undefined;
}
