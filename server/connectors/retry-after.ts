/**
 * Milliseconds that `Retry-After` asks to wait, given in seconds or as a date; `undefined` when it
 * says neither. A date that has passed asks to wait no longer.
 * @param now milliseconds since the epoch
 */
export function retryAfter(value: string | null, now: number): number | undefined {
  const text = value?.trim() ?? "";
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const date = /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
