import { createContext, useContext } from 'react';
import { exactUsd, usdParts } from '../format/money';
import { exactDay, exactTime, relativeTime } from '../format/time';
import { visible } from '../format/invisible-characters';
import { useTicks } from './clock';
import { cx } from './cx';
import { Tip } from './tooltip';

/** The digits below a cent to reserve space for, so that a column aligns at the decimal point. */
export const FineDigits = createContext(0);

/** An exact amount; digits below a cent are dimmed. */
export function Money({ usd, className }: { readonly usd: string; readonly className?: string }) {
  const digits = useContext(FineDigits);
  const { sign, dollars, cents, fine } = usdParts(usd);
  return (
    <span className={cx('figures whitespace-nowrap', className)}>
      {sign}${dollars}.{cents}
      {fine !== '' && <span className="text-[0.92em] text-ink-faint">{fine}</span>}
      {digits > fine.length && (
        <span
          aria-hidden="true"
          className="inline-block text-[0.92em]"
          style={{ width: `${digits - fine.length}ch` }}
        />
      )}
    </span>
  );
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

export function Id({ children, className }: { readonly children: string; readonly className?: string }) {
  return (
    <code className={cx('font-mono text-[0.93em] [overflow-wrap:anywhere]', className)}>
      {visible(children)}
    </code>
  );
}
