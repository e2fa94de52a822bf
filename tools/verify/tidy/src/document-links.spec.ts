import { existsSync } from 'node:fs';
import path from 'node:path';
import { projectFiles, root } from './project-files';

const documents = projectFiles().filter(({ name }) => name.endsWith('.md'));

/** Targets are relative to the document. */
const resolved = (name: string, target: string) => path.posix.join(path.posix.dirname(name), target);

describe('a link in a document', () => {
  it('leads to a file that exists when its target is defined apart from it, as "[name]: target"', () => {
    const broken = documents.flatMap(({ name, text }) =>
      [...text.matchAll(/^\[[\w-]+\]: (?!https?:)([^#\s]+)/gm)]
        .map(([, target = '']) => resolved(name, target))
        .filter((target) => !existsSync(path.join(root, target)))
        .map((target) => `${name} → ${target}`),
    );
    expect(broken).toEqual([]);
  });

  it('uses a name that the document defines, as in "[text][name]"', () => {
    const broken = documents.flatMap(({ name, text }) => {
      const defined = new Set([...text.matchAll(/^\[([\w-]+)\]: /gm)].map(([, id]) => id));
      return [...withoutCode(text).matchAll(/\]\[([\w-]+)\]/g)]
        .filter(([, id]) => defined.size > 0 && !defined.has(id))
        .map(([link]) => `${name} → ${link}`);
    });
    expect(broken).toEqual([]);
  });

  it('leads to a heading that exists', () => {
    const headings = new Map(documents.map(({ name, text }) => [name, headingIds(text)]));
    const broken = documents.flatMap(({ name, text }) =>
      [...text.matchAll(/\]\((?!https?:)([^)#\s]*\.md)?#([^)\s]+)\)/g)]
        .filter(
          ([, target, id = '']) => headings.get(target ? resolved(name, target) : name)?.has(id) === false,
        )
        .map(([link]) => `${name} → ${link}`),
    );
    expect(broken).toEqual([]);
  });
});

/** The ids of a document's headings, as GitHub derives them. */
function headingIds(text: string): ReadonlySet<string> {
  return new Set(
    [...withoutCode(text).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
      heading
        .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .toLowerCase()
        .replace(/[^\p{L}\p{N}_ -]/gu, '')
        .trim()
        .replaceAll(' ', '-'),
    ),
  );
}

function withoutCode(text: string): string {
  return text.replace(/^ *```[\s\S]*?^ *```$/gm, '');
}
