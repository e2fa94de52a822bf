import { lexer, type MarkedToken, type Token, type Tokens } from 'marked';
import { useMemo, type ReactNode } from 'react';
import { visibleText } from '../../format/invisible-characters';
import { Code } from '../../ui/code';
import { cx } from '../../ui/cx';
import { decodeEntities } from './entities';

/** Longer text is shown as it is, since it is parsed again with each chunk of a stream. */
const MAX_CHARACTERS = 50_000;
/** Deeper nesting is shown as it is. */
const MAX_DEPTH = 12;

/**
 * Markdown of a model, which is untrusted. Only the elements below are rendered: HTML is shown as text,
 * images become links, and links open web pages and mail only.
 */
export function Markdown({ text }: { readonly text: string }) {
  const tokens = useMemo(() => parse(text), [text]);
  if (!tokens) return <div className="whitespace-pre-wrap">{visibleText(text)}</div>;
  return <div className="grid min-w-0 gap-3">{render(tokens, 0)}</div>;
}

function parse(text: string): readonly Token[] | undefined {
  if (text.length > MAX_CHARACTERS) return undefined;
  try {
    return lexer(text);
  } catch {
    // The parser is recursive, and overflows the stack for thousands of nested quotes.
    return undefined;
  }
}

const HEADINGS = ['text-lg', 'text-lg', 'text-base', 'text-base', 'text-sm', 'text-sm'];

function render(tokens: readonly Token[] | undefined, depth: number): ReactNode {
  return tokens?.map((token, index) => <Node key={index} token={token as MarkedToken} depth={depth + 1} />);
}

/** The content of a token, or its source beyond the maximum depth. */
function Node({ token, depth }: { readonly token: MarkedToken; readonly depth: number }): ReactNode {
  if (depth > MAX_DEPTH) return visibleText(token.raw);
  switch (token.type) {
    case 'heading':
      return (
        <p
          role="heading"
          aria-level={Math.min(6, token.depth + 2)}
          className={cx('font-semibold', HEADINGS[token.depth - 1])}
        >
          {render(token.tokens, depth)}
        </p>
      );
    case 'paragraph':
      return <p>{render(token.tokens, depth)}</p>;
    case 'blockquote':
      return (
        <blockquote className="grid gap-2 border-l-2 border-line-strong pl-3 text-ink-soft">
          {render(token.tokens, depth)}
        </blockquote>
      );
    case 'list':
      return <List token={token} depth={depth} />;
    case 'table':
      return <MarkdownTable token={token} depth={depth} />;
    case 'code':
      return <Code text={token.text} what="code" />;
    case 'hr':
      return <hr className="border-line" />;
    case 'strong':
      return <strong className="font-semibold">{render(token.tokens, depth)}</strong>;
    case 'em':
      return <em>{render(token.tokens, depth)}</em>;
    case 'del':
      return <del>{render(token.tokens, depth)}</del>;
    case 'codespan':
      return (
        <code className="rounded-sm bg-sunken px-1 font-mono text-[0.93em]">{visibleText(token.text)}</code>
      );
    case 'br':
      return <br />;
    case 'link':
      return <SafeLink href={token.href}>{render(token.tokens, depth)}</SafeLink>;
    case 'image':
      return <SafeLink href={token.href}>{visibleText(token.text || token.href)}</SafeLink>;
    case 'text':
      return 'tokens' in token && token.tokens ? (
        render(token.tokens, depth)
      ) : (
        <>{visibleText(decodeEntities(token.text))}</>
      );
    case 'escape':
      return visibleText(token.text);
    case 'checkbox':
      return token.checked ? '☑ ' : '☐ ';
    case 'space':
    case 'def':
      return null;
    default:
      // HTML, and everything that the parser may add.
      return visibleText(token.raw);
  }
}

/** The address is shown on hover, since the text of a link may name another one. */
function SafeLink({ href, children }: { readonly href: string; readonly children: ReactNode }) {
  if (!/^(https?:\/\/|mailto:)/i.test(href)) return children;
  return (
    <a
      href={href}
      title={visibleText(href)}
      target="_blank"
      rel="noopener noreferrer nofollow"
      className="text-accent underline"
    >
      {children}
    </a>
  );
}

function List({ token, depth }: { readonly token: Tokens.List; readonly depth: number }) {
  const items = token.items.map((item, index) => (
    <li key={index} className="[&>p]:inline">
      {render(item.tokens, depth)}
    </li>
  ));
  return token.ordered ? (
    <ol start={token.start || 1} className="grid list-decimal gap-1 pl-6">
      {items}
    </ol>
  ) : (
    <ul className="grid list-disc gap-1 pl-6">{items}</ul>
  );
}

const ALIGNED = { left: 'text-left', center: 'text-center', right: 'text-right' } as const;

function MarkdownTable({ token, depth }: { readonly token: Tokens.Table; readonly depth: number }) {
  const cellClass = (cell: Tokens.TableCell) => cx('px-2 py-1', ALIGNED[cell.align ?? 'left']);
  return (
    <div className="overflow-x-auto" role="region" aria-label="Table" tabIndex={0}>
      <table className="border-collapse text-sm">
        <thead>
          <tr className="border-b border-line-strong">
            {token.header.map((cell, index) => (
              <th key={index} scope="col" className={cx('font-medium', cellClass(cell))}>
                {render(cell.tokens, depth)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {token.rows.map((row, index) => (
            <tr key={index} className="border-b border-line">
              {row.map((cell, column) => (
                <td key={column} className={cellClass(cell)}>
                  {render(cell.tokens, depth)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
