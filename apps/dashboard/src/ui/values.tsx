import { exactUsd, usdParts } from '../format/money';
import { exactDay, exactTime, relativeTime } from '../format/time';
import { cx } from './cx';
import { Tip } from './tooltip';

/** An amount, whole: what is below a cent is there too, more quietly. */
export function Money({ usd, className }: { readonly usd: string; readonly className?: string }) {
  const { sign, dollars, cents, fine } = usdParts(usd);
  return (
    <span className={cx('figures whitespace-nowrap', className)}>
      {sign}${dollars}.{cents}
      {fine !== '' && <span className="text-[0.92em] text-ink-faint">{fine}</span>}
    </span>
  );
}

export { exactUsd };

/** How long ago, or until; the exact moment on hover, on focus and for machines. */
export function Time({ at, className }: { readonly at: string; readonly className?: string }) {
  return (
    <Tip text={exactTime(at)}>
      <time dateTime={at} tabIndex={0} className={cx('whitespace-nowrap', className)}>
        {relativeTime(at)}
      </time>
    </Tip>
  );
}

/** A day of UTC. */
export function Day({ on }: { readonly on: string }) {
  return (
    <Tip text={`Until the end of ${exactDay(on)}, UTC`}>
      <time dateTime={on} tabIndex={0} className="whitespace-nowrap">
        {exactDay(on)}
      </time>
    </Tip>
  );
}

/** What somebody else wrote: it keeps its direction of writing to itself, and long words break. */
export function Text({ children, className }: { readonly children: string; readonly className?: string }) {
  return <bdi className={cx('[overflow-wrap:anywhere]', className)}>{visible(children)}</bdi>;
}

/**
 * Characters that nobody sees but that change how others read (directions,
 * zero widths, controls) are shown by their number.
 */
export function visible(text: string): string {
  return text.replace(
    /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff]/g,
    (character) => `⟨U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`,
  );
}

export function Id({ children, className }: { readonly children: string; readonly className?: string }) {
  return (
    <code className={cx('font-mono text-[0.93em] [overflow-wrap:anywhere]', className)}>
      {visible(children)}
    </code>
  );
}
