interface MeterProps {
  readonly label: string;
  readonly value: number;
  readonly max: number;
}

/** A bar that is empty at zero in both themes, which the browser's own meter is not. */
export function Meter({ label, value, max }: MeterProps) {
  const share = max > 0 ? Math.min(1, value / max) : 0;
  return (
    <div
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={max}
      aria-valuenow={value}
      className="h-2 w-full overflow-hidden rounded-full border border-line-strong bg-paper"
    >
      <div className="h-full bg-accent" style={{ width: `${share * 100}%` }} />
    </div>
  );
}
