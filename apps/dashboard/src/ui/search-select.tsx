import { useId, useState, type KeyboardEvent } from 'react';
import { cx } from './cx';
import { useDebounced } from './debounce';
import { Input } from './field';

interface Option {
  readonly id: string;
  readonly label: string;
}

/** Without an id: no selection. */
type Choice = Pick<Option, 'label'> & Partial<Option>;

interface SearchSelectProps {
  /** The id of the selected option; undefined: none. */
  readonly value: string | undefined;
  /** The label of the selected option. */
  readonly valueLabel: string;
  /** The label of no selection. */
  readonly emptyLabel: string;
  /** A hook for the options that match a text; undefined while they load. Without a text, the list is closed and needs none. */
  readonly useOptions: (text: string | undefined) => readonly Option[] | undefined;
  readonly onChange: (id: string | undefined, label: string) => void;
  readonly className?: string;
}

/** A select for lists that are too long to load, with a search. */
export function SearchSelect({
  value,
  valueLabel,
  emptyLabel,
  useOptions,
  onChange,
  className,
}: SearchSelectProps) {
  const listId = useId();
  const [open, setOpen] = useState(false);
  const [text, setText] = useState('');
  const [active, setActive] = useState(0);
  const typed = text.trim();
  const searched = useDebounced(typed);
  const found = useOptions(open ? searched : undefined);
  // Options of an earlier text are not offered, as Enter would select one of them.
  const isSearching = typed !== searched || found === undefined;
  const matches = isSearching ? [] : found;
  const options: readonly Choice[] = typed === '' ? [{ label: emptyLabel }, ...matches] : matches;
  const current = Math.min(active, options.length - 1);

  const close = () => {
    setOpen(false);
    setText('');
    setActive(0);
  };
  const choose = (choice: Choice | undefined) => {
    if (choice) onChange(choice.id, choice.label);
    close();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setOpen(true);
      const next = (current + step + options.length) % Math.max(1, options.length);
      setActive(next);
      document.getElementById(`${listId}-${next}`)?.scrollIntoView({ block: 'nearest' });
    } else if (event.key === 'Enter' && open) {
      event.preventDefault();
      choose(options[current]);
    } else if (event.key === 'Escape' && open) {
      event.stopPropagation();
      close();
    }
  };

  return (
    <div className={cx('relative', className)}>
      <Input
        role="combobox"
        aria-expanded={open}
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={open && options.length > 0 ? `${listId}-${current}` : undefined}
        className="w-full"
        value={open ? text : value === undefined ? emptyLabel : valueLabel}
        placeholder={value === undefined ? emptyLabel : valueLabel}
        onFocus={() => setOpen(true)}
        onClick={() => setOpen(true)}
        onBlur={close}
        onKeyDown={onKeyDown}
        onChange={({ target }) => {
          setOpen(true);
          setText(target.value);
          setActive(0);
        }}
      />
      <ul
        id={listId}
        role="listbox"
        aria-label="Options"
        hidden={!open}
        // The input keeps the focus, so that its blur does not close the list before the click.
        onMouseDown={(event) => event.preventDefault()}
        className="absolute z-40 mt-1 max-h-[50vh] w-max max-w-[min(22rem,90vw)] min-w-full overflow-y-auto rounded-lg border border-line bg-paper p-1 shadow-float"
      >
        {options.map((option, index) => (
          <li
            key={option.id ?? ''}
            id={`${listId}-${index}`}
            role="option"
            aria-selected={option.id === value}
            onMouseMove={() => setActive(index)}
            onClick={() => choose(option)}
            className={cx(
              'cursor-pointer truncate rounded-md px-2 py-1.5 text-sm',
              index === current && 'bg-sunken',
            )}
          >
            <bdi>{option.label}</bdi>
          </li>
        ))}
        {(isSearching || options.length === 0) && (
          <li className="px-2 py-1.5 text-sm text-ink-soft">{isSearching ? 'Searching…' : 'No matches'}</li>
        )}
      </ul>
    </div>
  );
}
