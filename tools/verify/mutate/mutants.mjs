import ts from 'typescript';

/** A mutant: the text from `start` to `end` becomes `replacement`. */
// @typedef {{ start: number, end: number, replacement: string, name: string }} Mutant

const OPERATORS = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '===': ['!=='],
  '!==': ['==='],
  '&&': ['||'],
  '||': ['&&'],
  '??': ['&&'],
  '+': ['-'],
  '-': ['+'],
  '*': ['+'],
  '/': ['*'],
};

/** The mutants of a TypeScript source: operators, conditions, numbers, min and max. */
export function typescriptMutants(text) {
  const file = ts.createSourceFile('source.ts', text, ts.ScriptTarget.Latest, true);
  const mutants = [];
  const plant = (node, replacement) => {
    const start = node.getStart(file);
    mutants.push(mutant(text, start, node.getEnd(), replacement));
  };
  const visit = (node) => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isInterfaceDeclaration(node)) return;
    if (ts.isBinaryExpression(node)) {
      for (const other of OPERATORS[node.operatorToken.getText(file)] ?? []) plant(node.operatorToken, other);
    }
    if (ts.isIfStatement(node)) {
      plant(node.expression, 'true');
      plant(node.expression, 'false');
    }
    if (ts.isConditionalExpression(node)) {
      plant(node.condition, 'true');
      plant(node.condition, 'false');
    }
    if (ts.isNumericLiteral(node)) plant(node, `${Number(node.text.replaceAll('_', '')) + 1}`);
    if (ts.isBigIntLiteral(node)) plant(node, `${BigInt(node.text.replaceAll('_', '').slice(0, -1)) + 1n}n`);
    if (ts.isPropertyAccessExpression(node) && node.expression.getText(file) === 'Math') {
      if (node.name.text === 'min') plant(node.name, 'max');
      if (node.name.text === 'max') plant(node.name, 'min');
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return mutants;
}

/** A bug that breaks a named rule: `wrong` replaces `right`, which the file has once. */
export function plantedBug(text, { what, right, wrong }) {
  const start = text.indexOf(right);
  if (start < 0 || text.includes(right, start + 1)) throw new Error(`planted bug "${what}": not found once`);
  return { start, end: start + right.length, replacement: wrong, name: what };
}

const SQL_PATTERNS = [
  [/ <> /g, ' = '],
  [/ < /g, ' <= '],
  [/ > /g, ' >= '],
  [/ <= /g, ' < '],
  [/ >= /g, ' > '],
  [/ \+ /g, ' - '],
  [/ - /g, ' + '],
  [/\bgreatest\(/g, 'least('],
  [/\bleast\(/g, 'greatest('],
  [/ is not null\b/g, ' is null'],
  [/ is null\b/g, ' is not null'],
  [/^(\s+)and /gm, '$1or '],
  [/^\s+for update;$/gm, ';'],
];

/** The mutants of SQL functions, outside comments. */
export function sqlMutants(text) {
  const mutants = [];
  for (const body of text.matchAll(/\$\$[\s\S]*?\$\$/g)) {
    const code = body[0].replaceAll(/--.*$/gm, (comment) => ' '.repeat(comment.length));
    for (const [pattern, replacement] of SQL_PATTERNS) {
      for (const found of code.matchAll(pattern)) {
        const start = body.index + found.index;
        mutants.push(
          mutant(
            text,
            start,
            start + found[0].length,
            found[0].replace(new RegExp(pattern.source, 'm'), replacement),
          ),
        );
      }
    }
  }
  return mutants;
}

/** Named by the text of its line, not its number, so that explained.json stays valid when lines move. */
function mutant(text, start, end, replacement) {
  const line = text.slice(
    text.lastIndexOf('\n', start) + 1,
    text.indexOf('\n', end) === -1 ? undefined : text.indexOf('\n', end),
  );
  return {
    start,
    end,
    replacement,
    name: `${line.trim()} | ${text.slice(start, end).trim()} -> ${replacement.trim()}`,
  };
}
