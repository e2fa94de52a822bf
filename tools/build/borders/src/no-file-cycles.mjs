// ESLint rule: no import cycles between the files of a project, type imports included. Nx checks cycles between projects.
// TypeScript parses and resolves the imports.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

/** The imports of every file, read once per run in less than 500 ms. */
let graph;

export const noFileCycles = {
  meta: {
    type: 'problem',
    schema: [],
    messages: { cycle: 'Import cycle: {{ path }}.' },
  },
  create(context) {
    graph ??= readImports(context.cwd);
    const file = path.resolve(context.filename);
    const check = ({ source }) => {
      if (!source || source.type !== 'Literal') return;
      const target = graph.targets.get(file)?.get(source.value);
      const wayBack = target && shortestPath(graph, target, file);
      if (!wayBack) return;
      const cycle = [file, ...wayBack].map((name) => path.relative(context.cwd, name)).join(' → ');
      context.report({ node: source, messageId: 'cycle', data: { path: cycle } });
    };
    return {
      ImportDeclaration: check,
      ExportNamedDeclaration: check,
      ExportAllDeclaration: check,
      ImportExpression: check,
    };
  },
};

/** Code for browsers has its own TypeScript configuration. */
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
  /** File → import specifier → resolved file. */
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

/** The files on the shortest path of imports, both ends included; undefined when there is none. */
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
