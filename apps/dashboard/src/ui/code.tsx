import { useState } from 'react';
import { visibleText } from '../format/invisible-characters';
import { CopyIcon } from './copy';
import { cx } from './cx';

/** A code block with a copy button, which copies the original text. */
export function Code({
  text,
  what,
  wrap,
}: {
  readonly text: string;
  readonly what: string;
  readonly wrap?: boolean;
}) {
  return (
    <div className="relative min-w-0 rounded-md border border-line bg-panel">
      <pre
        tabIndex={0}
        className={cx(
          'max-h-96 overflow-auto p-3 pr-11 font-mono text-xs leading-5',
          wrap && 'whitespace-pre-wrap [overflow-wrap:anywhere]',
        )}
      >
        {visibleText(text)}
      </pre>
      <div className="absolute top-px right-px rounded-md bg-panel p-1">
        <CopyIcon text={text} what={what} className="" />
      </div>
    </div>
  );
}

/** A code block with tabs for several languages. */
export function CodeTabs({
  tabs,
}: {
  readonly tabs: readonly { readonly name: string; readonly text: string }[];
}) {
  const [chosen, choose] = useState(0);
  const shown = tabs[chosen] ?? tabs[0];
  if (!shown) return null;
  return (
    <div className="grid min-w-0 gap-2">
      <div role="group" aria-label="Example" className="flex flex-wrap gap-1">
        {tabs.map(({ name }, index) => (
          <button
            key={name}
            type="button"
            aria-pressed={index === chosen}
            onClick={() => choose(index)}
            className="rounded-md px-2 py-1 text-sm text-ink-soft hover:bg-sunken aria-pressed:bg-sunken aria-pressed:font-medium aria-pressed:text-ink"
          >
            {name}
          </button>
        ))}
      </div>
      <Code text={shown.text} what={`${shown.name} example`} />
    </div>
  );
}
