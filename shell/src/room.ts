import type { McpUiHostContext } from "@modelcontextprotocol/ext-apps";

/** Pixels of a view where the host sets no bound. */
const VIEW_HEIGHT = 480;

/** Pixels at the edges that a device covers. */
export interface Insets {
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
  readonly left: number;
}

/** No edge is covered. */
export const NO_INSETS: Insets = { top: 0, right: 0, bottom: 0, left: 0 };

/** Where a view stands. */
export interface Room {
  /** Pixels of the inner frame. */
  readonly height: number;
  readonly insets: Insets;
}

/**
 * The room of a view: the host's fixed height, else ours within the host's maximum.
 * @param context what the host said so far
 * @param width pixels of the window
 * @param bar pixels that the shell's own row takes under the view
 */
export function roomFor(context: McpUiHostContext, width: number, bar: number): Room {
  const box = context.containerDimensions ?? {};
  const fixed = "height" in box && box.height > 0 ? box.height : undefined;
  const most = "maxHeight" in box && box.maxHeight ? box.maxHeight : undefined;
  const insets = usable(context.safeAreaInsets ?? NO_INSETS, width, fixed ?? most ?? VIEW_HEIGHT);
  const taken = insets.top + insets.bottom + bar;
  const height = fixed ?? Math.min(VIEW_HEIGHT + taken, most ?? Infinity);
  return { height: Math.max(1, height - taken), insets };
}

/** Edges that would leave the view less than half of its room are no device's: they are ignored. */
function usable({ top, right, bottom, left }: Insets, width: number, height: number): Insets {
  const isTooHigh = top + bottom > height / 2;
  const isTooWide = width > 0 && left + right > width / 2;
  return {
    ...(isTooHigh ? { top: 0, bottom: 0 } : { top, bottom }),
    ...(isTooWide ? { left: 0, right: 0 } : { left, right }),
  };
}
