import { createContext, useContext } from 'react';
import { decimalPlaces, exactUsd, formatUsd, type MoneyDigits } from '../format/money';
import { exactDay, exactTime, logTime, relativeTime } from '../format/time';
import { visible } from '../format/invisible-characters';
import { useTicks } from './clock';
import { cx } from './cx';
import { useTimeZone } from './time-zone';
import { Tip } from './tooltip';

/** How the amounts of a table's column are shown. */
export interface MoneyColumn {
  readonly digits: MoneyDigits;
  /** The decimal places to reserve space for, so that the column aligns at the decimal point. */
  readonly places: number;
}

export const MoneyColumnContext = createContext<MoneyColumn>({ digits: 'significant', places: 0 });

interface MoneyProps {
  readonly usd: string;
  /** Defaults to that of the column, and outside tables to `significant`. */
  readonly digits?: MoneyDigits;
  readonly className?: string;
}

/** An amount; a rounded one is exact in a tooltip and in the markup. */
export function Money({ usd, digits, className }: MoneyProps) {
  const column = useContext(MoneyColumnContext);
  const text = formatUsd(usd, digits ?? column.digits);
  const missing = column.places - decimalPlaces(text);
  const exact = exactUsd(usd);
  const isExact = text === exact;
  const amount = (
    <data
      value={usd}
      tabIndex={isExact ? undefined : 0}
      // Invisible digits are as wide as visible ones, and are neither read nor copied.
      data-padding={missing > 0 ? '0'.repeat(missing) : undefined}
      className={cx(
        'figures whitespace-nowrap after:invisible after:content-[attr(data-padding)]',
        className,
      )}
    >
      {text}
    </data>
  );
  return isExact ? amount : <Tip text={exact}>{amount}</Tip>;
}

export { exactUsd, visible };

/** A relative time with the exact time in a tooltip and in the markup. */
export function Time({ at, className }: { readonly at: string; readonly className?: string }) {
  useTicks();
  return (
    <Tip text={exactTime(at)}>
      <time dateTime={at} tabIndex={0} className={cx('whitespace-nowrap', className)}>
        {relativeTime(at)}
      </time>
    </Tip>
  );
}

/** When something was last done. */
export function TimeOrNever({ at }: { readonly at: string | null }) {
  return at === null ? <span className="text-ink-faint">Never</span> : <Time at={at} />;
}

/** The time of an entry of a log, in the chosen time zone; how long ago is in a tooltip. */
export function LogTime({ at, className }: { readonly at: string; readonly className?: string }) {
  const zone = useTimeZone();
  useTicks();
  return (
    <Tip text={`${exactTime(at, zone)}, ${relativeTime(at)}`}>
      <time dateTime={at} className={cx('figures whitespace-nowrap', className)}>
        {logTime(at, zone)}
      </time>
    </Tip>
  );
}

/** The heading of a column of `LogTime`. */
export function LogTimeHeading({ children }: { readonly children: string }) {
  return `${children} (${useTimeZone() === 'utc' ? 'UTC' : 'local'})`;
}

/** The last day of validity, in UTC. */
export function Day({ on }: { readonly on: string }) {
  return (
    <Tip text={`End of ${exactDay(on)}, UTC`}>
      <time dateTime={on} tabIndex={0} className="whitespace-nowrap">
        {exactDay(on)}
      </time>
    </Tip>
  );
}

/** User-written text, with isolated writing direction and breaking long words. */
export function Text({ children, className }: { readonly children: string; readonly className?: string }) {
  return <bdi className={cx('[overflow-wrap:anywhere]', className)}>{visible(children)}</bdi>;
}

/** Like `Text`, preferring a line break after the @. */
export function Email({ children, className }: { readonly children: string; readonly className?: string }) {
  const at = children.lastIndexOf('@') + 1;
  return (
    <bdi className={cx('[overflow-wrap:anywhere]', className)}>
      {visible(children.slice(0, at))}
      <wbr />
      {visible(children.slice(at))}
    </bdi>
  );
}

/** A person by name and email; without a name, by email. */
export function PersonName({
  of: { name, email },
}: {
  readonly of: { readonly name: string; readonly email: string };
}) {
  if (name === '') return <Email className="font-medium">{email}</Email>;
  return (
    <span className="grid">
      <Text className="font-medium">{name}</Text>
      <Email className="text-xs font-normal text-ink-soft">{email}</Email>
    </span>
  );
}

export function Id({ children, className }: { readonly children: string; readonly className?: string }) {
  return (
    <code className={cx('font-mono text-[0.93em] [overflow-wrap:anywhere]', className)}>
      {visible(children)}
    </code>
  );
}
