import type { Act, Browser } from "./vector.ts";

/** A browser under test, as far as the table needs one. */
export interface Driver {
  readonly kind: Browser;
  readonly version: string;
  /**
   * Opens a tab and waits until its page has begun to load.
   * @param prompted is called at each alert or question; it is accepted
   */
  open(url: string, prompted: () => void): Promise<Tab>;
  /** Ends the browser by its process, whatever state that is in. */
  close(): Promise<void>;
}

/** One tab of it. */
export interface Tab {
  go(url: string): Promise<void>;
  /** Brings it to the front. */
  show(): Promise<void>;
  /** Moves the pointer into the view. @param shift pixels, as only a pointer that moves is noticed */
  point(shift: number): Promise<void>;
  /** Uses the pointer in the middle of the view. */
  act(act: Act): Promise<void>;
  close(): Promise<void>;
}

/** Where a view stands in the host page: a place well within it, in pixels. */
export const IN_VIEW = { x: 160, y: 160 } as const;
