import { withoutSecrets } from '@gateway/dashboard-contract/client';
import * as RadixDialog from '@radix-ui/react-dialog';
import { useId, useState, type KeyboardEvent } from 'react';
import { cx } from '../ui/cx';
import { Icon } from '../ui/icons';
import { useReturnFocus } from '../ui/return-focus';
import type { Command } from './command';
import { useCommands } from './commands';

interface PaletteProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
}

const MAX_SHOWN = 40;

/** Finds pages and actions by name. */
export function CommandPalette({ open, onOpenChange }: PaletteProps) {
  const returnFocus = useReturnFocus(open);
  return (
    <RadixDialog.Root open={open} onOpenChange={onOpenChange}>
      <RadixDialog.Portal>
        <div className="fixed inset-0 z-40 bg-veil" />
        <RadixDialog.Content
          onCloseAutoFocus={returnFocus}
          aria-describedby={undefined}
          className="fixed top-[12vh] left-1/2 z-50 w-[calc(100vw-1.5rem)] max-w-xl -translate-x-1/2 overflow-hidden rounded-lg border border-line bg-paper shadow-float"
        >
          <RadixDialog.Title className="sr-only">Search or jump to</RadixDialog.Title>
          <PaletteBody onDone={() => onOpenChange(false)} />
        </RadixDialog.Content>
      </RadixDialog.Portal>
    </RadixDialog.Root>
  );
}

function PaletteBody({ onDone }: { readonly onDone: () => void }) {
  const [text, setText] = useState('');
  const [active, setActive] = useState(0);
  const listId = useId();
  const commands = useCommands(text);
  const matches = matching(commands, text).slice(0, MAX_SHOWN);
  const chosen = matches[Math.min(active, matches.length - 1)];

  const run = (command: Command | undefined) => {
    if (!command) return;
    onDone();
    command.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      const next =
        (Math.min(active, matches.length - 1) + step + matches.length) % Math.max(1, matches.length);
      setActive(next);
      document.getElementById(`${listId}-${next}`)?.scrollIntoView({ block: 'nearest' });
    } else if (event.key === 'Enter') {
      event.preventDefault();
      run(chosen);
    }
  };

  return (
    <div onKeyDown={onKeyDown}>
      <div className="flex items-center gap-2.5 border-b border-line px-4">
        <Icon name="search" className="text-ink-faint" />
        <input
          autoFocus
          role="combobox"
          aria-expanded="true"
          aria-controls={listId}
          aria-activedescendant={chosen && `${listId}-${matches.indexOf(chosen)}`}
          aria-label="Search or jump to"
          placeholder="Search or jump to"
          value={text}
          onChange={(event) => {
            // A pasted key is found by its last characters, and reaches no request.
            setText(withoutSecrets(event.target.value));
            setActive(0);
          }}
          className="h-12 min-w-0 flex-1 bg-transparent text-lg outline-none placeholder:text-ink-faint"
        />
      </div>
      <ul
        id={listId}
        role="listbox"
        aria-label="Pages and actions"
        className="max-h-[50vh] overflow-y-auto p-1.5"
      >
        {matches.map((command, index) => (
          <li
            key={command.id}
            id={`${listId}-${index}`}
            role="option"
            aria-selected={command === chosen}
            onMouseMove={() => setActive(index)}
            onClick={() => run(command)}
            className={cx(
              'flex h-9 cursor-pointer items-center gap-2.5 rounded-md px-2.5 text-sm',
              command === chosen && 'bg-sunken',
            )}
          >
            <Icon name={command.icon} className="text-ink-faint" />
            <span className="min-w-0 truncate">
              <bdi>{command.label}</bdi>
            </span>
            {command.note !== undefined && (
              <span className="truncate text-xs text-ink-faint">{command.note}</span>
            )}
            {command.keys !== undefined && (
              <kbd className="ml-auto font-sans text-2xs text-ink-faint">{command.keys}</kbd>
            )}
          </li>
        ))}
      </ul>
      {matches.length === 0 && (
        <p role="status" className="px-4 pb-6 text-center text-sm text-ink-soft">
          No results
        </p>
      )}
    </div>
  );
}

/** Matches at the start of a word come first. */
function matching(commands: readonly Command[], text: string): readonly Command[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const rank = ({ id, label, note = '', found }: Command) => {
    // Keys and organizations are also found by id.
    if (found || id.toLowerCase() === text.trim().toLowerCase()) return 0;
    const name = `${label} ${note}`.toLowerCase();
    if (!words.every((word) => name.includes(word))) return undefined;
    return words.every((word) => name.startsWith(word) || name.includes(` ${word}`)) ? 0 : 1;
  };
  return commands
    .map((command) => ({ command, rank: rank(command) }))
    .filter((one): one is { command: Command; rank: 0 | 1 } => one.rank !== undefined)
    .sort((left, right) => left.rank - right.rank)
    .map(({ command }) => command);
}
