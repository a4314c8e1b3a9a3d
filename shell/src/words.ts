/** The text as far as it fits, with an ellipsis where it does not. */
export function clamp(text: string, characters: number): string {
  return text.length > characters ? `${text.slice(0, characters)}\u2026` : text;
}
